package io.radixflow.cli.command.chat;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import io.radixflow.models.TestModels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chat as a newcomer starts it: broker, Flink and the real model in one process. */
@Tag("model")
class ChatRealModelITCase {
  private static final int PAGE = 16;
  private static final String SYSTEM =
      "You are a patient guide in a small natural history museum. You answer visitors in one or two"
          + " short sentences, you never invent facts, and you point out what they can look at next.";

  @TempDir Path directory;

  @Test
  void sessionsShareTheSystemPromptAndASecondTurnPrefillsOnlyWhatIsNew() throws Exception {
    Path script =
        Files.writeString(
            directory.resolve("script"),
            """
            What is a fossil?
            How old can one be?

            Why do birds sing?
            Do all of them?

            What do bees eat?
            And in winter?
            """);

    Cli.Result result =
        new Cli()
            .run(
                "chat",
                "--model",
                TestModels.smolLm2().toString(),
                "--script",
                script.toString(),
                "--system",
                SYSTEM,
                "--temperature",
                "0",
                "--max-tokens",
                "24");

    assertThat(result.code()).as(result.err() + result.out()).isZero();
    List<Transcript.Turn> turns = Transcript.read(result.out());
    assertThat(turns).hasSize(6).extracting(Transcript.Turn::reply).doesNotContain("");
    assertThat(turns.get(0).cached()).isZero();
    int system = turns.get(2).cached();
    assertThat(system).isGreaterThanOrEqualTo(2 * PAGE);
    assertThat(turns.get(4).cached()).isGreaterThanOrEqualTo(2 * PAGE);
    for (int session = 0; session < 3; session++) {
      Transcript.Turn first = turns.get(2 * session);
      Transcript.Turn second = turns.get(2 * session + 1);
      int known = first.prompt() + first.completion() - 1;
      assertThat(second.cached()).isGreaterThanOrEqualTo(known / PAGE * PAGE);
      assertThat(second.prompt() - second.cached()).isLessThan(second.prompt() - known + PAGE);
    }
  }
}
