package io.radixflow.cli.command.chat;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.LocalServing;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.protocol.record.GenerationOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Holds a conversation on the terminal. */
@Command(
    name = "chat",
    description = {
      "Chat in the terminal: start a Kafka broker and the job in this process and send each line to"
          + " it.",
      "/new begins another session, /regenerate makes the latest reply again, /stats counts tokens,"
          + " /help lists all. Ctrl-C cancels a reply, twice leaves."
    })
public final class ChatCommand extends CliCommand {

  @Mixin LocalServing serving;

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT",
      description = "Talk to a job that runs elsewhere, through these brokers.")
  String bootstrap;

  @Option(
      names = "--script",
      paramLabel = "FILE",
      description = {
        "Send the file's lines, one user message each; an empty line begins a new session.",
        "Prints a transcript with the cached and prompt tokens of each turn."
      })
  Path script;

  @Option(
      names = "--system",
      paramLabel = "TEXT",
      description = "The system prompt (default: the model's own).")
  String system;

  @Option(
      names = "--tenant",
      paramLabel = "NAME",
      description = "The tenant that the conversation belongs to (default: none).")
  String tenant = "";

  @Option(
      names = "--temperature",
      paramLabel = "T",
      description =
          "Sampling temperature; 0 always takes the likeliest token (default:"
              + " generation.temperature, else the model's own).")
  Double temperature;

  @Option(
      names = "--top-p",
      paramLabel = "P",
      description =
          "Draw from the likeliest tokens that have this probability together (default:"
              + " generation.top-p, else the model's own).")
  Double topP;

  @Option(names = "--max-tokens", paramLabel = "N", description = "Maximum tokens of a reply.")
  Integer maxTokens;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the random generator (default: depends on session and turn).")
  Long seed;

  ChatCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    ChatScript turns = script == null ? null : ChatScript.read(script);
    if (bootstrap != null) {
      return talk(serving.settings.load(bootstrap), turns, new CompletableFuture<>());
    }
    try (LocalStack stack = serving.startWithBroker(this, 0, 0)) {
      return talk(stack.settings(), turns, serving.end(stack));
    }
  }

  /**
   * Runs the conversation until the user leaves, or the script or the job ends.
   *
   * @param end fails when the job ends by itself
   */
  private int talk(Settings settings, ChatScript turns, CompletableFuture<Void> end)
      throws IOException, InterruptedException {
    String run = UUID.randomUUID().toString().substring(0, 8);
    GenerationOptions options = generation();
    try (ConversationClient client = new ConversationClient(settings)) {
      client.failWith(end);
      IntFunction<ChatSession> sessions =
          number -> ChatSession.open(client, tenant, "chat-" + run + "-" + number, system, options);
      if (turns != null) {
        return turns.run(sessions, out());
      }
      out().println(title(settings) + ". /help lists commands.");
      try (TerminalInput input = TerminalInput.open()) {
        new ChatRepl(input, sessions, end, out()).run();
      }
    }
    return 0;
  }

  private String title(Settings settings) {
    return bootstrap != null
        ? "Talking over " + bootstrap
        : Path.of(settings.get(SharedConfig.MODEL)).getFileName().toString();
  }

  private GenerationOptions generation() {
    return GenerationOptions.builder()
        .temperature(temperature)
        .topP(topP)
        .maxTokens(maxTokens)
        .seed(seed)
        .build();
  }
}
