package io.radixflow.protocol.record;

import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Map;

/**
 * A parsed event of one session; a Flink POJO. An invalid event is also passed on if it names its
 * turn, so that it is answered once, however often it is sent.
 *
 * @param kind the kind of request
 * @param session root id of the session: the key
 * @param branch branch within the session; {@code main} unless forked
 * @param turn id of the turn, opaque, unique within the session; for {@code cancel} the turn to
 *     cancel (null: whatever the branch runs or queues); null where an event has none
 * @param tenant owner, empty for the default tenant
 * @param cacheSalt separates cached pages further; empty for none
 * @param messages {@code open}: at most a system message; {@code message}: the new turn's messages;
 *     {@code append}: messages without a reply; {@code regenerate}: messages that replace the
 *     turn's messages, empty to keep them
 * @param options generation options; of {@code open}: the session's defaults; null for none
 * @param replace whether running or waiting turns of the branch are cancelled, so that this turn
 *     does not wait for them
 * @param newBranch {@code fork}: the branch to make
 * @param atTurn {@code fork}: the last turn that is kept; {@code regenerate}: the turn that is
 *     answered again; null for the latest; {@code query}: the turn that is asked about, or null;
 *     {@code delete_turn}: the turn that is deleted
 * @param origin where the event was read
 * @param error the error, for its sender; null if it is valid
 * @param metadata pairs that come back with the turn, for its sender, or null
 * @param cache hints about the turn's cached pages, or null
 * @param previousTurn {@code message}, {@code append}: id of the turn that it follows, on any
 *     branch; empty if it follows none; null if the event names its branch
 * @param matchHistory {@code message}: whether the messages are the whole conversation, of which
 *     the session may already have turns
 */
public record ConversationEvent(
    EventKind kind,
    String session,
    String branch,
    String turn,
    String tenant,
    String cacheSalt,
    List<Message> messages,
    GenerationOptions options,
    boolean replace,
    String newBranch,
    String atTurn,
    Origin origin,
    String error,
    Map<String, String> metadata,
    CacheHints cache,
    String previousTurn,
    boolean matchHistory) {

  /** The branch of a session that was not forked. */
  public static final String MAIN_BRANCH = "main";

  /** The most messages of one event and of one request to the gateway. */
  public static final int MAX_MESSAGES = 10_000;

  /**
   * Returns a builder of an event on the main branch.
   *
   * @param kind the kind of request; null if an invalid event does not name one
   * @param turn id of the turn, or null
   */
  public static Builder builder(EventKind kind, String session, String turn) {
    return new Builder(kind, session, turn);
  }

  /** Returns a new turn of the main branch with one user message. */
  public static ConversationEvent message(String session, String turn, String text) {
    return builder(EventKind.MESSAGE, session, turn)
        .messages(List.of(new Message("user", text)))
        .build();
  }

  /** Returns a turn whose prompt is a raw text, without a chat template. */
  public static Builder prompt(String session, String turn, String text) {
    return prompt(session, turn, new Message(Message.PROMPT, text));
  }

  /** Returns a turn whose prompt is a text or ids, as {@link Message#isPrompt} says. */
  public static Builder prompt(String session, String turn, Message prompt) {
    return builder(EventKind.MESSAGE, session, turn).messages(List.of(prompt));
  }

  /** Returns a builder initialised from this event. */
  public Builder toBuilder() {
    return toBuilder(turn);
  }

  /** Returns a builder initialised from this event, for another turn id. */
  public Builder toBuilder(String turn) {
    return new Builder(kind, session, turn)
        .branch(branch)
        .tenant(tenant)
        .cacheSalt(cacheSalt)
        .messages(messages)
        .options(options)
        .replace(replace)
        .newBranch(newBranch)
        .atTurn(atTurn)
        .origin(origin)
        .error(error)
        .metadata(metadata)
        .cache(cache)
        .previousTurn(previousTurn)
        .matchHistory(matchHistory);
  }

  /** Builds an event; each method sets the component of its name. */
  public static final class Builder {
    private final EventKind kind;
    private final String session;
    private final String turn;
    private String branch = MAIN_BRANCH;
    private String tenant = "";
    private String cacheSalt = "";
    private List<Message> messages = List.of();
    private GenerationOptions options;
    private boolean replace;
    private String newBranch;
    private String atTurn;
    private Origin origin = Origin.NONE;
    private String error;
    private Map<String, String> metadata;
    private CacheHints cache;
    private String previousTurn;
    private boolean matchHistory;

    private Builder(EventKind kind, String session, String turn) {
      this.kind = kind;
      this.session = session;
      this.turn = turn;
    }

    public Builder branch(String branch) {
      this.branch = branch;
      return this;
    }

    public Builder tenant(String tenant) {
      this.tenant = tenant;
      return this;
    }

    public Builder cacheSalt(String cacheSalt) {
      this.cacheSalt = cacheSalt;
      return this;
    }

    public Builder messages(List<Message> messages) {
      this.messages = messages;
      return this;
    }

    public Builder options(GenerationOptions options) {
      this.options = options;
      return this;
    }

    public Builder replace(boolean replace) {
      this.replace = replace;
      return this;
    }

    public Builder newBranch(String newBranch) {
      this.newBranch = newBranch;
      return this;
    }

    public Builder atTurn(String atTurn) {
      this.atTurn = atTurn;
      return this;
    }

    public Builder origin(Origin origin) {
      this.origin = origin;
      return this;
    }

    public Builder error(String error) {
      this.error = error;
      return this;
    }

    public Builder metadata(Map<String, String> metadata) {
      this.metadata = metadata;
      return this;
    }

    public Builder cache(CacheHints cache) {
      this.cache = cache;
      return this;
    }

    public Builder previousTurn(String previousTurn) {
      this.previousTurn = previousTurn;
      return this;
    }

    public Builder matchHistory(boolean matchHistory) {
      this.matchHistory = matchHistory;
      return this;
    }

    public ConversationEvent build() {
      return new ConversationEvent(
          kind,
          session,
          branch,
          turn,
          tenant,
          cacheSalt,
          messages,
          options,
          replace,
          newBranch,
          atTurn,
          origin,
          error,
          metadata,
          cache,
          previousTurn,
          matchHistory);
    }
  }
}
