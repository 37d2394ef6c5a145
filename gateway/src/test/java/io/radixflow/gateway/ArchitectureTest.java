package io.radixflow.gateway;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import io.radixflow.models.ArchitectureRules;
import org.junit.jupiter.api.Test;

/** Checks which classes the gateway must not use, so that it stays a thin process. */
class ArchitectureTest {

  private static final String ROOT = "io.radixflow.gateway";
  private static final JavaClasses MAIN = ArchitectureRules.main(ROOT);

  @Test
  void theGatewayKnowsNeitherTheJobNorItsEngine() {
    noClasses()
        .should()
        .dependOnClassesThat(
            resideInAPackage("io.radixflow..")
                .and(
                    resideOutsideOfPackages(
                        ROOT + "..",
                        "io.radixflow.models..",
                        "io.radixflow.text..",
                        "io.radixflow.grammar..",
                        "io.radixflow.protocol..",
                        "io.radixflow.client..")))
        .orShould()
        .dependOnClassesThat()
        .resideInAnyPackage("org.apache.flink.runtime..", "org.apache.flink.streaming..", "kafka..")
        .check(MAIN);
  }

  @Test
  void turnsAndTopicsKnowNeitherHttpNorVertx() {
    noClasses()
        .that()
        .resideInAnyPackage(ROOT + ".turn..", ROOT + ".topics..")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("io.vertx..", "io.netty..")
        .check(MAIN);
  }

  @Test
  void kafkaIsReachedThroughTheTopicsOnly() {
    noClasses()
        .that()
        .resideOutsideOfPackage(ROOT + ".topics..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.apache.kafka..")
        .check(MAIN);
  }

  @Test
  void packagesFormNoCycleAndTestsDoNotSleep() {
    ArchitectureRules.check(ROOT);
  }
}
