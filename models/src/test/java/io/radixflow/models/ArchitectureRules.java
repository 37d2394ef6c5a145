package io.radixflow.models;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

/** The rules that hold in every module. Maven holds the arrows between modules. */
public final class ArchitectureRules {

  private ArchitectureRules() {}

  /** Returns the main classes of a package and of the packages in it. */
  public static JavaClasses main(String... packages) {
    return new ClassFileImporter()
        .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
        .importPackages(packages);
  }

  /**
   * Checks that the packages of a module form no cycle, that its classes do not write to the
   * terminal, and that its tests wait for conditions instead of sleeping.
   *
   * @param root the module's package
   */
  public static void check(String root) {
    check(root, main(root));
  }

  /** Like {@link #check(String)}, where only some main classes may not write to the terminal. */
  public static void check(String root, JavaClasses silent) {
    slices().matching("io.radixflow.(**)").should().beFreeOfCycles().check(main(root));
    noClasses().should(ACCESS_STANDARD_STREAMS).check(silent);
    JavaClasses tests =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
            .importPackages(root);
    noClasses()
        .should()
        .callMethod(Thread.class, "sleep", long.class)
        .allowEmptyShould(true)
        .check(tests);
  }
}
