package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.SessionRef;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.prompt.NextPrompts;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.prompt.PromptBound;
import io.radixflow.operators.prompt.ReplyParts;
import io.radixflow.operators.prompt.ReplyReading;
import io.radixflow.operators.prompt.SharedSystemPrompt;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.TurnOptions;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Overflow;
import io.radixflow.protocol.record.ServiceClass;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.text.prompt.Prefill;
import io.radixflow.text.prompt.PromptEnd;
import io.radixflow.text.prompt.RawTemplate;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.Message;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** Makes the engine's requests for turns. Only the task's thread uses it. */
public final class EngineRequests {

  /** Tokens of the context window that are reserved for a reply without a limit. */
  private static final int ROOM = 2048;

  /** The minimum time for which pages are kept for the results of tools. */
  private static final long RESULTS_MILLIS = 120_000;

  private final ServingEngine engine;
  private final ServingOptions options;
  private final NextPrompts nextPrompts;
  private final ReplyReading reading;
  private final RawTemplate raw;
  private final PromptBound bound;

  public EngineRequests(ServingEngine engine, ServingOptions options) {
    this.engine = engine;
    this.options = options;
    this.reading = new ReplyReading(engine.model());
    this.nextPrompts = new NextPrompts(reading);
    this.raw = new RawTemplate(engine.model().tokenizer(), engine.model().text().promptStart());
    this.bound = new PromptBound(reading.template(), engine.model().tokenizer());
  }

  ServingOptions options() {
    return options;
  }

  String model() {
    return engine.model().fingerprint();
  }

  Tokenizer tokenizer() {
    return engine.model().tokenizer();
  }

  /** Returns the assembly of a planned turn's prompt; it runs on an intake thread of the engine. */
  PromptAssembly assembly(TurnPlan plan) {
    GenerationOptions given = plan.given();
    boolean opens =
        given == null
            || given.continuesMessage()
            || !Boolean.FALSE.equals(given.addGenerationPrompt());
    TurnOptions options = plan.options();
    return assembly(
        isRaw(plan) ? raw(options.tokens()) : reading.template(),
        plan.conversation(),
        plan.messages(),
        options.prompt(),
        options.maxTokens(),
        options.dropsOldest(this.options.prompts().overflow()),
        new PromptEnd(opens, prefill(plan)));
  }

  private RawTemplate raw(TokenOptions options) {
    return raw.with(options.addSpecialTokens(), options.truncatePromptTokens());
  }

  /** Returns the beginning of a turn's reply if its sender wrote one, else null. */
  private Prefill prefill(TurnPlan plan) {
    return plan.prefill() == null ? null : reading.prefill(plan.options().prompt(), plan.prefill());
  }

  /** Returns the assembly of the prompt of a conversation without new messages. */
  private PromptAssembly assembly(Conversation conversation, PromptOptions prompt) {
    return assembly(
        reading.template(),
        conversation,
        List.of(),
        prompt,
        1,
        options.prompts().overflow() == Overflow.DROP_OLDEST,
        new PromptEnd(false, null));
  }

  /**
   * @param added the messages of the new turn; empty for the conversation as it is
   * @param maxTokens limit on the reply's tokens
   */
  private PromptAssembly assembly(
      ChatTemplate template,
      Conversation conversation,
      List<Message> added,
      PromptOptions prompt,
      int maxTokens,
      boolean dropOldest,
      PromptEnd end) {
    int contextLength = engine.engine().info().contextLength();
    int room = maxTokens == ServingOptions.Prompts.NO_LIMIT ? ROOM : maxTokens;
    return new PromptAssembly(
        tokenizer(),
        template,
        conversation,
        added,
        prompt,
        new PromptAssembly.Window(
            contextLength,
            Math.max(1, Math.min(room, contextLength / 4)),
            options.prompts().maxTurns(),
            dropOldest,
            template == reading.template() ? bound : null),
        end);
  }

  /**
   * Returns a function from a turn's prompt to the reader of its reply. If a model with another
   * tokenizer began the reply, all text is content.
   */
  Function<Prompt, ReplyParts> reader(SessionContext session, PendingTurn turn, TurnPlan plan) {
    String id = session.id();
    PromptOptions prompt = plan.options().prompt();
    Prefill prefill = prefill(plan);
    return made ->
        isRaw(plan) || !made.isOf(tokenizer().fingerprint())
            ? ReplyParts.plain()
            : reading.parts(prompt, made.ids(), id, turn.turn(), prefill);
  }

  private static boolean isRaw(TurnPlan plan) {
    return Message.isPrompt(plan.messages());
  }

  /** Returns the request that runs a turn, or continues it. */
  EngineRequest run(SessionContext session, RunningTurn run) {
    TurnPlan plan = run.plan();
    TurnOptions given = plan.options();
    PromptAssembly assembly = run.assembly();
    EngineRequest.PromptSource prompt = assembly == null ? run.prompt()::ids : assembly;
    String tenant = session.slot().tenant();
    return EngineRequest.builder(
            session.id() + "/" + run.pending().turn(),
            session.slot().raw() ? prompt : shared(session.slot(), plan.conversation(), prompt),
            given.maxTokens())
        .namespace(namespace(session.slot()))
        .resumed(run.tokens())
        .sampling(given.sampling())
        .stop(given.stop())
        .ignoreEndOfTurn(given.ignoreEos())
        .session(
            new SessionRef(tenant, session.id(), run.pending().branch(), nextPrompt(session, run)))
        .service(new ServiceClass(tenant, given.priority(), session.id()))
        .hints(hints(run.pending().cache()))
        .markup(isRaw(plan) ? Map.of() : reading.markup(given.prompt()))
        .grammar(grammar(plan))
        .reasoning(
            isRaw(plan)
                ? null
                : reading.budget(given.prompt(), given.thinkingBudget(), prefill(plan)))
        .begun(plan.prefill() != null)
        .prediction(prediction(given.prediction()))
        .tokens(run.isBegun() ? given.tokens().withoutPromptLogprobs() : given.tokens())
        .build();
  }

  private EngineRequest.PredictionSource prediction(String text) {
    return text == null ? null : () -> tokenizer().encode(text);
  }

  /** Returns the source of the grammar of a turn's reply; null for none. */
  private EngineRequest.GrammarSource grammar(TurnPlan plan) {
    PromptOptions prompt = plan.options().prompt();
    GrammarSpec content = prompt.constraint().content();
    if (isRaw(plan)) {
      EngineRequest.GrammarSource source = ids -> content;
      return content == null ? null : source.of(prompt.constraint().option());
    }
    return reading.grammar(prompt, prefill(plan));
  }

  /** Returns the request that prepares the pages of an expected turn. */
  EngineRequest expected(
      SessionContext session, ConversationEvent event, Conversation conversation) {
    SessionSlot slot = session.slot();
    PromptOptions given = PromptOptions.resolve(Arrays.asList(slot.defaults(), options.defaults()));
    PromptAssembly prompt = assembly(conversation, given);
    return EngineRequest.builder(
            session.id() + " (expected)", shared(slot, conversation, prompt), 1)
        .namespace(namespace(slot))
        .session(new SessionRef(slot.tenant(), session.id(), event.branch()))
        .service(new ServiceClass(slot.tenant(), 0, session.id()))
        .hints(hints(event.cache()))
        .build();
  }

  /** Returns the request that keeps the pages of a turn whose reply called tools. */
  EngineRequest results(SessionContext session, RunningTurn turn) throws Exception {
    SessionSlot slot = session.slot();
    String branch = turn.pending().branch();
    Conversation conversation = session.conversation(branch);
    PromptAssembly prompt = assembly(conversation, turn.plan().options().prompt());
    long pinned = hints(turn.pending().cache()).pinMillis();
    return EngineRequest.builder(session.id() + " (results)", shared(slot, conversation, prompt), 1)
        .namespace(namespace(slot))
        .session(new SessionRef(slot.tenant(), session.id(), branch))
        .service(new ServiceClass(slot.tenant(), 0, session.id()))
        .hints(new CacheHints(false, Math.max(RESULTS_MILLIS, pinned), List.of(), null))
        .build();
  }

  private static CacheHints hints(CacheHints given) {
    return given == null ? CacheHints.NONE : given;
  }

  private String namespace(SessionSlot slot) {
    return options.namespaces().namespace(slot);
  }

  /** Puts the pages of the system prompt into the public namespace, if the session shares them. */
  private EngineRequest.PromptSource shared(
      SessionSlot slot, Conversation conversation, EngineRequest.PromptSource prompt) {
    return conversation.system() != null && options.namespaces().sharesSystemPrompt(slot)
        ? new SharedSystemPrompt(prompt, engine.model().chatTemplate(), conversation.system())
        : prompt;
  }

  /**
   * Returns the function that computes the next prompt; null if the next prompt begins with this
   * prompt and reply.
   */
  private SessionRef.NextPrompt nextPrompt(SessionContext session, RunningTurn run) {
    boolean mayChange =
        nextPrompts.dropsThinking() || run.plan().options().prompt().template().tools() != null;
    if (!mayChange || isRaw(run.plan())) {
      return null;
    }
    PromptAssembly assembly = run.assembly();
    Prompt made = run.prompt();
    return nextPrompts.after(
        assembly == null ? () -> made : assembly::prompt,
        run.plan().conversation(),
        run.plan().messages(),
        run.plan().options(),
        reader(session, run.pending(), run.plan()));
  }
}
