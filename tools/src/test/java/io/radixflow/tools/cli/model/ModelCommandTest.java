package io.radixflow.tools.cli.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.tools.cli.Cli;
import org.junit.jupiter.api.Test;

class ModelCommandTest {

  @Test
  void showsTheBytesOfEachKindOfLayerAndThePagesThatHaveThemAll() {
    Cli.Result result = new Cli().run("model", "--model", "sim:window=64");

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("16 bytes a token (1 layers full: 8; 1 layers window of 64: 8)")
        .contains("1024 pages of 16 tokens, 512 of them with all layers, 0.2 MB");
  }

  @Test
  void aModelWithoutWindowsHasOneKindOfPage() {
    Cli.Result result = new Cli().run("model", "--model", "sim");

    assertThat(result.out()).contains(" 8 bytes a token\n").contains("pages of 16 tokens, 0.1 MB");
  }
}
