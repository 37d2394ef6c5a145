package io.radixflow.jobs;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.models.ArchitectureRules;
import io.radixflow.protocol.PublicApi;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.producer.Producer;
import org.junit.jupiter.api.Test;

/** Checks the packages that jobs must not use, and the rules that hold for all its classes. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.jobs";
  private static final JavaClasses MAIN = ArchitectureRules.main(ROOT);

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
          ".topic.DeadLetter",
          ".topic.EventWriter$EventJson",
          ".topic.MessageJson$ItemJson",
          ".topic.RecordReader$DeltaJson",
          ".topic.ReplyFields",
          ".topic.ReplyFields$Choice",
          ".topic.TurnStateFields",
          ".record.TokenOptions",
          ".session.PendingTurn",
          ".session.TurnProgress",
          ".session.SessionPages",
          ".session.SessionSlot",
          ".session.Turn",
          ".session.TurnDetails",
          ".session.TurnOptions",
          ".session.TurnPlan",
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
          ".engine.model.SimOptions",
          // one of few forms, each made by a method
          ".grammar.regex.RegexTree",
          // model and device
          ".models.ModelConfig",
          ".models.Attention$Grouped",
          ".models.Attention$Latent",
          ".models.FeedForward$Router",
          ".models.ForwardGraph$Block",
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
            "io.radixflow.models.tensor..")
        .check(MAIN);
  }

  @Test
  void jobsUseThePublicApiOfTheEngineAndOfOperatorsOnly() {
    noClasses()
        .that()
        .resideInAPackage(ROOT + "..")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.radixflow.engine..", "io.radixflow.operators..")
                .and(not(PUBLISHED)))
        .check(ArchitectureRules.main(ROOT, "io.radixflow.engine", "io.radixflow.operators"));
  }

  @Test
  void onlyListedClassesHaveAConstructorOfMoreThanSevenParameters() {
    JavaClasses product = ArchitectureRules.main("io.radixflow");
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
    JavaClasses all = ArchitectureRules.main("io.radixflow");
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
  void packagesFormNoCycleAndTestsDoNotSleep() {
    ArchitectureRules.check(ROOT);
  }
}
