package io.radixflow.jobs;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.GeneralCodingRules.ACCESS_STANDARD_STREAMS;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.kafka.KafkaClient;
import io.radixflow.operators.PublicApi;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Test;

/** Checks the packages that jobs must not use, and the rules that hold for all its classes. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.jobs";
  private static final JavaClasses MAIN =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages(ROOT);

  /** A type that is marked, or that is nested in one. */
  private static final DescribedPredicate<JavaClass> PUBLISHED =
      describe(
          "are public API",
          type -> {
            JavaClass top = type;
            while (top.getEnclosingClass().isPresent()) {
              top = top.getEnclosingClass().get();
            }
            return top.isAnnotatedWith(PublicApi.class);
          });

  /**
   * Records with many fields that belong together: nearly all have a builder or are made in one
   * place, by a reader of their format. The kernels of a GPU have their launch's parameters.
   */
  private static final Set<String> LONG_CONSTRUCTORS =
      Set.of(
          // wire and state
          ".record.ConversationEvent",
          ".record.GenerationOptions",
          ".record.Reply",
          ".record.Reply$TurnState",
          ".record.ReplyDelta",
          ".event.DeadLetter",
          ".event.EventWriter$EventJson",
          ".event.MessageJson$ItemJson",
          ".event.RecordReader$DeltaJson",
          ".event.ReplyFields",
          ".event.ReplyFields$Choice",
          ".event.TurnStateFields",
          ".record.TokenOptions",
          ".session.PendingTurn",
          ".session.Progress",
          ".session.SessionPages",
          ".session.SessionSlot",
          ".session.Turn",
          ".session.TurnDetails",
          ".session.TurnOptions",
          ".turn.TurnPlan",
          // requests, options, figures
          ".engine.EngineOptions",
          ".engine.EngineRequest",
          ".engine.EngineStats",
          ".engine.PoolStats",
          ".engine.ReplyProgress",
          ".tier.TierStats",
          ".tier.store.PageStoreStats",
          ".tier.remote.RemoteTierOptions",
          ".sampling.SamplingParams",
          ".sim.SimOptions",
          // one of few forms, each made by a method
          ".grammar.regex.RegexTree",
          // model and device
          ".model.ModelConfig",
          ".model.Attention$Grouped",
          ".model.Attention$Latent",
          ".model.FeedForward$Router",
          ".model.ForwardGraph$Block",
          ".cuda.gemm.GemmKernel",
          ".cuda.gemm.MatrixProducts$Operands",
          ".cuda.step.SamplingKernel");

  @Test
  void jobsKnowNoTensorsAndNoDevice() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "io.radixflow.kernels.cpu..",
            "io.radixflow.kernels.cuda..",
            "io.radixflow.kernels.sim..")
        .orShould()
        .dependOnClassesThat()
        .haveNameMatching("io\\.radixflow\\.kernels\\.model\\..*(Tensor|TensorType|WeightSource)")
        .check(MAIN);
  }

  @Test
  void theProductKnowsNoTools() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.radixflow.tools..", "io.radixflow.lab..", "picocli..", "kafka..")
        .check(MAIN);
  }

  @Test
  void jobsUseThePublicApiOfOperatorsOnly() {
    JavaClasses withMarks =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT, "io.radixflow.operators");
    noClasses()
        .that()
        .resideInAPackage(ROOT + "..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.radixflow.operators..")
                .and(resideOutsideOfPackage("io.radixflow.operators.record.."))
                .and(not(PUBLISHED)))
        .check(withMarks);
  }

  @Test
  void eventsKnowTheRecordsOfOperatorsOnly() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + ".event..")
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.radixflow.operators..")
                .and(resideOutsideOfPackage("io.radixflow.operators.record..")))
        .check(MAIN);
  }

  @Test
  void onlyListedClassesHaveAConstructorOfMoreThanSevenParameters() {
    JavaClasses product =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages(ROOT, "io.radixflow.operators", "io.radixflow.kernels");
    assertThat(product)
        .filteredOn(ArchitectureTest::hasLongConstructor)
        .extracting(JavaClass::getName)
        .allSatisfy(name -> assertThat(LONG_CONSTRUCTORS).anyMatch(name::endsWith));
  }

  private static boolean hasLongConstructor(JavaClass type) {
    int synthetic = type.isEnum() ? 2 : 0;
    return type.getConstructors().stream()
        .anyMatch(each -> each.getRawParameterTypes().size() - synthetic > 7);
  }

  @Test
  void oneClassMakesKafkasClients() {
    JavaClasses all =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .importPackages("io.radixflow");
    noClasses()
        .that()
        .doNotBelongToAnyOf(KafkaClient.class)
        .should()
        .callConstructorWhere(target(owner(assignableTo(Consumer.class))))
        .orShould()
        .callConstructorWhere(target(owner(assignableTo(Producer.class))))
        .orShould()
        .callMethodWhere(target(owner(assignableTo(Admin.class))).and(target(name("create"))))
        .orShould()
        .callMethod(Settings.class, "kafkaClient")
        .check(all);
  }

  @Test
  void packagesFormNoCycle() {
    slices().matching("io.radixflow.(**)").should().beFreeOfCycles().check(MAIN);
  }

  @Test
  void nothingWritesToTheTerminal() {
    noClasses().should(ACCESS_STANDARD_STREAMS).check(MAIN);
  }

  @Test
  void testsWaitForWhatTheyExpectInsteadOfSleeping() {
    JavaClasses tests =
        new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.ONLY_INCLUDE_TESTS)
            .importPackages(ROOT);
    noClasses().should().callMethod(Thread.class, "sleep", long.class).check(tests);
  }
}
