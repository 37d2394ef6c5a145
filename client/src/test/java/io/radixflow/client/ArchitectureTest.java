package io.radixflow.client;

import io.radixflow.models.ArchitectureRules;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

  @Test
  void packagesFormNoCycleAndTestsDoNotSleep() {
    ArchitectureRules.check("io.radixflow.client");
  }
}
