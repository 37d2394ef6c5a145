package io.radixflow.cli.command.topic;

import io.radixflow.cli.state.SavedMessage;
import io.radixflow.cli.state.SavedSession;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.io.PrintWriter;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;

/** Sessions of a savepoint as tables: totals, totals by tenant, and the largest sessions. */
final class StateTable {
  private static final int MAX_TENANTS = 50;
  private static final Comparator<SavedSession> BY_SIZE =
      Comparator.comparingLong(SavedSession::characters).thenComparing(SavedSession::session);

  private static final class Sum {
    private long sessions;
    private long turns;
    private long pending;
    private long characters;

    private void add(SavedSession session) {
      sessions++;
      turns += session.turns();
      pending += session.pending();
      characters += session.characters();
    }
  }

  private final int limit;
  private final Sum all = new Sum();
  private final Map<String, Sum> states = new TreeMap<>();
  private final Map<String, Sum> tenants = new TreeMap<>();
  private final PriorityQueue<SavedSession> largest = new PriorityQueue<>(BY_SIZE);

  /**
   * @param limit number of sessions to show
   */
  StateTable(int limit) {
    this.limit = limit;
  }

  void add(SavedSession session) {
    all.add(session);
    states.computeIfAbsent(session.state(), state -> new Sum()).add(session);
    tenants.computeIfAbsent(session.tenant(), tenant -> new Sum()).add(session);
    largest.add(session);
    if (largest.size() > limit) {
      largest.remove();
    }
  }

  void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "sessions: %,d; turns: %,d; turns without a reply: %,d; characters: %,d%n",
        all.sessions,
        all.turns,
        all.pending,
        all.characters);
    out.println("sessions by state (the pages of open ones as last known):");
    states.forEach((state, sum) -> out.printf(Locale.ROOT, "  %s: %,d%n", state, sum.sessions));
    out.printf(
        "%n%-32s %10s %10s %10s %14s%n", "tenant", "sessions", "turns", "pending", "characters");
    tenants.entrySet().stream().limit(MAX_TENANTS).forEach(tenant -> print(out, tenant));
    if (tenants.size() > MAX_TENANTS) {
      out.printf("... and %,d more%n", tenants.size() - MAX_TENANTS);
    }
    if (largest.isEmpty()) {
      return;
    }
    out.printf(
        "%n%-32s %-10s %10s %10s %10s %14s %10s %8s %8s %8s %8s  %-24s  %s%n",
        "session",
        "state",
        "branches",
        "turns",
        "pending",
        "characters",
        "committed",
        "device",
        "host",
        "disk",
        "remote",
        "as of",
        "last event");
    List<SavedSession> ordered = largest.stream().sorted(BY_SIZE.reversed()).toList();
    ordered.forEach(session -> print(out, session));
  }

  private static void print(PrintWriter out, Map.Entry<String, Sum> tenant) {
    Sum sum = tenant.getValue();
    out.printf(
        Locale.ROOT,
        "%-32s %10d %10d %10d %14d%n",
        tenant.getKey().isEmpty() ? "(none)" : printable(tenant.getKey()),
        sum.sessions,
        sum.turns,
        sum.pending,
        sum.characters);
  }

  private static void print(PrintWriter out, SavedSession session) {
    SessionPages pages = session.pages();
    TierTokens tokens = pages == null ? TierTokens.NONE : pages.tokens();
    out.printf(
        Locale.ROOT,
        "%-32s %-10s %10d %10d %10d %14d %10d %8d %8d %8d %8d  %-24s  %s%n",
        printable(session.session()),
        session.state(),
        session.branches(),
        session.turns(),
        session.pending(),
        session.characters(),
        pages == null ? 0 : pages.committedTokens(),
        tokens.device(),
        tokens.host(),
        tokens.disk(),
        tokens.remote(),
        pages == null ? "-" : Instant.ofEpochMilli(pages.asOf()),
        Instant.ofEpochMilli(session.lastEvent()));
  }

  static void print(PrintWriter out, SavedMessage message) {
    StringBuilder head = new StringBuilder(message.message().role());
    if (message.branch() != null) {
      head.append(" [").append(message.branch()).append(' ').append(message.turn()).append(']');
    }
    if (message.finishReason() != null) {
      head.append(" (").append(message.finishReason()).append(')');
    }
    out.println(printable(head.toString()));
    Message said = message.message();
    print(out, "  reasoning: ", said.reasoning());
    print(out, "  ", said.content());
    for (ToolCall call : said.toolCalls()) {
      print(out, "  calls " + call.name() + ": ", call.arguments());
    }
  }

  private static void print(PrintWriter out, String before, String text) {
    if (text != null) {
      text.lines().forEach(line -> out.println(printable(before + line)));
    }
  }

  /** Replaces control characters: a user's text must not control the terminal. */
  private static String printable(String text) {
    StringBuilder printable = new StringBuilder(text.length());
    text.codePoints()
        .map(c -> Character.isISOControl(c) && c != '\t' ? 0xFFFD : c)
        .forEach(printable::appendCodePoint);
    return printable.toString();
  }
}
