package io.radixflow.lab.drill.proof;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.drill.http.Heard;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares the replies that HTTP clients got with the events that the gateways sent to the job, and
 * with an undisturbed run's replies to these events.
 */
public final class HttpVerifier {
  private static final int MAX_FINDINGS = 100;
  private static final int MAX_EVENT = 16 << 20;

  private final EventParser parser = new EventParser(MAX_EVENT);
  private final Map<TrafficTurn, ConversationEvent> turns = new LinkedHashMap<>();
  private final List<ConversationEvent> events = new ArrayList<>();
  private final List<String> findings = new ArrayList<>();
  private final String others;
  private int changed;

  /**
   * @param others prefix of the ids of sessions that do not belong to HTTP clients
   */
  public HttpVerifier(String others) {
    this.others = others;
  }

  /** Adds the next record of a partition of the event topic. */
  public void event(byte[] record) {
    ConversationEvent event = parser.parse(record, Origin.NONE).event();
    if (event == null || event.session().startsWith(others)) {
      return;
    }
    if (event.kind() == EventKind.CANCEL) {
      events.add(event);
    } else if (event.kind() == EventKind.MESSAGE) {
      ConversationEvent before = turns.putIfAbsent(TrafficTurn.of(event), event);
      if (before == null) {
        events.add(event);
      } else if (!asked(before).equals(asked(event))) {
        change(TrafficTurn.of(event) + ": sent again as another event");
      }
    }
  }

  /**
   * Returns an event without its metadata, because gateways store the time of the request there.
   */
  private static ConversationEvent asked(ConversationEvent event) {
    return event.toBuilder().metadata(null).build();
  }

  /**
   * Returns the events of HTTP clients' turns, each once, and of their cancels. Events of a session
   * are in order.
   */
  public List<ConversationEvent> events() {
    return List.copyOf(events);
  }

  /**
   * Returns the result.
   *
   * @param heard the replies that clients got
   * @param unheard turns whose replies clients did not get completely
   * @param failures of clients themselves
   * @param expected the undisturbed run's replies
   */
  public Verdict verdict(
      List<Heard> heard, int unheard, List<String> failures, Map<TrafficTurn, Reply> expected) {
    Map<TrafficTurn, Heard> known = new HashMap<>();
    failures.forEach(this::change);
    int doubled = 0;
    Samples waits = new Samples();
    Set<TrafficTurn> extra = new HashSet<>(turns.keySet());
    for (Heard one : heard) {
      TrafficTurn key = new TrafficTurn(one.session(), one.turn());
      one.waits().forEach(waits::add);
      extra.remove(key);
      if (known.putIfAbsent(key, one) != null) {
        doubled++;
        find(one.key() + ": the same turn as " + known.get(key).key());
      }
      compare(one, expected.get(key));
    }
    // a request may have become a turn even if its client never got an answer
    if (extra.size() > unheard) {
      doubled += extra.size() - unheard;
      find("turns that no client asked for: " + extra);
    }
    if (unheard > 0) {
      find(unheard + " replies were never received to their end");
    }
    int resumed = (int) heard.stream().filter(one -> !one.waits().isEmpty()).count();
    return new Verdict(heard.size() + unheard, resumed, unheard, doubled, changed, waits, findings);
  }

  private void compare(Heard one, Reply expected) {
    if (!one.faults().isEmpty()) {
      change(one.key() + ": " + String.join("; ", one.faults()));
    } else if (expected == null) {
      change(one.key() + ": the gateways sent no such turn to the job");
    } else if (one.cancelled()) {
      if (!Heard.isPrefix(one.text(), one.calls(), expected.text(), expected.toolCalls())) {
        change(
            one.key() + ": cancelled with a reply that is not a prefix of the undisturbed run's");
      }
    } else if (!expected.text().equals(one.text())) {
      change(one.key() + ": '" + one.text() + "' instead of '" + expected.text() + "'");
    } else if (!expected.toolCalls().equals(one.calls())) {
      change(one.key() + ": " + one.calls() + " instead of " + expected.toolCalls());
    } else if (!expected.finishReason().equals(one.finish())) {
      change(one.key() + ": " + one.finish() + " instead of " + expected.finishReason());
    }
  }

  private void change(String what) {
    changed++;
    find(what);
  }

  private void find(String what) {
    if (findings.size() < MAX_FINDINGS) {
      findings.add("HTTP " + what);
    }
  }

  /**
   * The verdict about HTTP clients.
   *
   * @param turns requested turns
   * @param resumed turns whose connection broke and was made again
   * @param lost turns whose end no client received
   * @param doubled turns that no client requested
   * @param changed turns with a reply that differs from the undisturbed run
   * @param waits milliseconds from each break to the next event
   * @param findings descriptions of faults; only the first hundred
   */
  public record Verdict(
      int turns,
      int resumed,
      int lost,
      int doubled,
      int changed,
      Samples waits,
      List<String> findings) {

    public Verdict {
      findings = List.copyOf(findings);
    }

    public boolean holds() {
      return lost + doubled + changed == 0;
    }
  }
}
