package io.radixflow.kernels.cpu;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Calls whose result may differ between JDKs, machines or compilations of one method. */
class ArithmeticRulesTest {

  private static final Set<String> TRANSCENDENTALS =
      Set.of(
          "exp", "expm1", "log", "log10", "log1p", "pow", "sin", "cos", "tan", "sinh", "cosh",
          "tanh", "asin", "acos", "atan", "atan2", "cbrt", "hypot");

  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.radixflow.kernels.cpu");

  private static DescribedPredicate<JavaAccess<?>> access(
      String what, String owner, Set<String> names) {
    return new DescribedPredicate<>(what) {
      @Override
      public boolean test(JavaAccess<?> access) {
        return access.getTargetOwner().getName().equals(owner)
            && names.contains(access.getTarget().getName().toLowerCase(Locale.ROOT));
      }
    };
  }

  @Test
  void mathTranscendentalsAreNotUsed() {
    noClasses()
        .should()
        .accessTargetWhere(access("transcendental Math methods", "java.lang.Math", TRANSCENDENTALS))
        .check(MAIN);
  }

  @Test
  void theIncubatorModuleIsNotUsed() {
    noClasses().should().dependOnClassesThat().resideInAPackage("jdk.incubator..").check(MAIN);
  }
}
