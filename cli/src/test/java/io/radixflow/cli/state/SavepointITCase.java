package io.radixflow.cli.state;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SavepointITCase {
  private static final int SESSIONS = 5;

  @TempDir static Path dir;
  private static Savepoint savepoint;

  @BeforeAll
  static void writeSavepoint() throws Exception {
    Path directory = dir.resolve("savepoint");
    new StateSeed(SESSIONS, 2, 1_000).write(directory, dir, 128, "tokenizer");
    savepoint = new Savepoint(directory, dir);
  }

  @Test
  void theConversationOfEverySessionIsFound() throws Exception {
    for (int i = 0; i < SESSIONS; i++) {
      List<SavedMessage> messages = new ArrayList<>();
      savepoint.conversation(StateSeed.session(i), messages::add);
      assertThat(messages)
          .as(StateSeed.session(i))
          .extracting(message -> message.message().role())
          .containsExactly("user", "assistant", "user", "assistant");
    }
  }

  @Test
  void aSessionThatIsNotThereHasNoMessages() throws Exception {
    List<SavedMessage> messages = new ArrayList<>();
    savepoint.conversation("absent", messages::add);
    assertThat(messages).isEmpty();
  }

  @Test
  void allSessionsAreListed() throws Exception {
    List<SavedSession> sessions = new ArrayList<>();
    savepoint.sessions(sessions::add);
    assertThat(sessions)
        .extracting(SavedSession::session)
        .containsExactlyInAnyOrder("idle-0", "idle-1", "idle-2", "idle-3", "idle-4");
  }
}
