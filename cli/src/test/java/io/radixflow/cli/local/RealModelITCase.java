package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.models.TestModels;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("model")
class RealModelITCase {

  private static final String SYSTEM =
      "You are a helpful assistant who knows geography well and answers in one short sentence, "
          + "without lists, headings or apologies.";

  @Test
  void aSecondTurnPrefillsOnlyWhatIsNewAndASecondSessionSharesTheSystemPrompt() throws Exception {
    Settings settings =
        new SettingsLoader()
            .set(List.of("job.checkpoint-interval=200ms", "engine.context-length=1024"))
            .load()
            .with(SharedConfig.MODEL, TestModels.smolLm2().toString());
    try (LocalStack stack =
            LocalStack.start(
                settings,
                new LocalStack.Options(Optional.empty(), true, 0, 0),
                ServingSettings.engine(settings, RealModelITCase::open),
                line -> {});
        ConversationClient client = new ConversationClient(stack.settings())) {
      int page = settings.get(RadixflowOptions.PAGE_TOKENS);

      Reply first = ask(client, "a", "1", true, "What is the capital of France?");
      assertThat(first.text()).contains("Paris");
      assertThat(first.usage().cachedTokens()).isZero();

      Reply second = ask(client, "a", "2", false, "And of Italy?");
      assertThat(second.text()).contains("Rome");
      int before = first.usage().promptTokens() + first.usage().completionTokens();
      assertThat(second.usage().promptTokens()).isGreaterThan(before);
      assertThat(second.usage().cachedTokens())
          .isGreaterThan(before - 2 * page)
          .isLessThanOrEqualTo(before);

      Reply other = ask(client, "b", "1", true, "What is the capital of France?");
      assertThat(other.text()).isEqualTo(first.text());
      assertThat(other.usage().cachedTokens())
          .isGreaterThan(first.usage().promptTokens() - 2 * page);
    }
  }

  private static ServedModel open(String path) throws IOException {
    return ModelLoader.open(path, Path::of);
  }

  private static Reply ask(
      ConversationClient client, String session, String turn, boolean opens, String text) {
    Message user = new Message("user", text);
    GenerationOptions greedy = GenerationOptions.builder().temperature(0.0).maxTokens(24).build();
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, session, turn)
            .messages(opens ? List.of(new Message("system", SYSTEM), user) : List.of(user))
            .options(greedy)
            .origin(new Origin(-1, -1, 0))
            .build();
    return client.ask(event, ReplyListener.SILENT).orTimeout(120, TimeUnit.SECONDS).join();
  }
}
