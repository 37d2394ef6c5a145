package io.radixflow.models;

import org.junit.jupiter.api.Test;

class ArchitectureTest {

  @Test
  void packagesFormNoCycleAndTestsDoNotSleep() {
    ArchitectureRules.check("io.radixflow.models");
  }
}
