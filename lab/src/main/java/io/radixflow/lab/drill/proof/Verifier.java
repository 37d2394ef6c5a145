package io.radixflow.lab.drill.proof;

import io.radixflow.lab.drill.http.Heard;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Compares the topics' records with the sent turns and with the replies of an undisturbed run.
 *
 * <p>Call it with all committed replies, then with all deltas, each in the order of their
 * partition, then ask for the verdict.
 */
public final class Verifier {
  private static final int MAX_FINDINGS = 100;
  private static final String REJECTED = "rejected";
  private static final String CANCELLED = "cancelled";

  private final Map<TrafficTurn, ConversationEvent> sent = new LinkedHashMap<>();
  private final Set<TrafficTurn> cancelled = new HashSet<>();
  private final Map<TrafficTurn, Integer> places = new HashMap<>();
  private final Set<TrafficTurn> deadly;
  private final Map<TrafficTurn, Reply> expected;
  private final Map<TrafficTurn, Reply> replies = new HashMap<>();
  private final Map<String, Integer> lastPlaces = new HashMap<>();
  private final Map<TrafficTurn, DeltaTrail> trails = new HashMap<>();
  private final Set<TrafficTurn> changed = new HashSet<>();
  private final ReplyForms forms = new ReplyForms();
  private final List<String> findings = new ArrayList<>();
  private int doubled;
  private int disordered;

  /**
   * @param sent every event that was sent: turns and cancels of turns; events of a session in order
   * @param deadly turns that end as errors
   * @param expected the undisturbed run's replies to all other turns
   */
  public Verifier(
      List<ConversationEvent> sent, Set<TrafficTurn> deadly, Map<TrafficTurn, Reply> expected) {
    this.deadly = deadly;
    for (ConversationEvent event : sent) {
      if (event.kind() == EventKind.CANCEL) {
        cancel(event);
      } else {
        this.sent.put(TrafficTurn.of(event), event);
        places.put(TrafficTurn.of(event), places.size());
      }
    }
    cancelled.retainAll(this.sent.keySet());
    this.expected = expected;
  }

  private void cancel(ConversationEvent event) {
    if (event.turn() != null) {
      cancelled.add(TrafficTurn.of(event));
      return;
    }
    for (ConversationEvent earlier : sent.values()) {
      if (earlier.session().equals(event.session()) && earlier.branch().equals(event.branch())) {
        cancelled.add(TrafficTurn.of(earlier));
      }
    }
  }

  /** Adds the next committed reply of a partition; answers to gateways' queries are skipped. */
  public void reply(Reply reply) {
    if (reply.kind() == EventKind.QUERY) {
      return;
    }
    TrafficTurn key = TrafficTurn.of(reply);
    ConversationEvent event = sent.get(key);
    if (event == null) {
      doubled++;
      find(key, "a reply to a turn that was never sent");
      return;
    }
    if (replies.putIfAbsent(key, reply) != null) {
      doubled++;
      find(key, "another committed reply, of attempt " + reply.attempt());
      return;
    }
    String fault = forms.fault(event.options(), reply);
    if (fault != null) {
      change(key, fault);
    }
    if (reply.finishReason().equals(CANCELLED)) {
      compareCancelled(key, reply);
    } else if (!reply.finishReason().equals(REJECTED)) {
      order(key, event, reply);
      if (deadly.contains(key)) {
        compareDeadly(key, reply);
      } else {
        compare(key, reply);
      }
    }
  }

  private void compareDeadly(TrafficTurn key, Reply reply) {
    if (!reply.finishReason().equals("error") || !reply.text().isEmpty()) {
      change(key, ending(reply) + " instead of an error");
    }
  }

  /**
   * Compares a cancelled reply. A cancel overtakes the turns that its turn waits for, so the order
   * of the reply is not checked.
   */
  private void compareCancelled(TrafficTurn key, Reply reply) {
    Reply undisturbed = expected.get(key);
    if (!cancelled.contains(key)) {
      change(key, "cancelled without a cancel event");
    } else if (undisturbed == null || !isPrefix(reply, undisturbed)) {
      change(key, "cancelled with a reply that is not a prefix of the undisturbed run's");
    }
  }

  private static boolean isPrefix(Reply reply, Reply whole) {
    boolean reasoned = text(whole.reasoning()).startsWith(text(reply.reasoning()));
    return reasoned
        && Heard.isPrefix(reply.text(), reply.toolCalls(), whole.text(), whole.toolCalls());
  }

  private static String text(String text) {
    return text == null ? "" : text;
  }

  private void order(TrafficTurn key, ConversationEvent event, Reply reply) {
    String queue = event.kind() == EventKind.FORK ? event.newBranch() : reply.branch();
    Integer last = lastPlaces.merge(key.session() + "\n" + queue, places.get(key), Math::max);
    if (last > places.get(key)) {
      disordered++;
      find(key, "replied to after a later turn of its branch");
    }
  }

  private void compare(TrafficTurn key, Reply reply) {
    Reply undisturbed = expected.get(key);
    if (undisturbed == null) {
      change(key, "the undisturbed run has no reply");
    } else if (!said(reply).equals(said(undisturbed))) {
      change(key, "'" + said(reply) + "' instead of '" + said(undisturbed) + "'");
    } else if (!ending(reply).equals(ending(undisturbed))) {
      change(key, ending(reply) + " instead of " + ending(undisturbed));
    }
  }

  private static List<Object> said(Reply reply) {
    return List.of(text(reply.reasoning()), reply.text(), reply.toolCalls());
  }

  private static String ending(Reply reply) {
    return "%s after %d of %d tokens%s"
        .formatted(
            reply.finishReason(),
            reply.usage().completionTokens(),
            reply.usage().promptTokens(),
            reply.error() == null ? "" : ", " + reply.error());
  }

  private void change(TrafficTurn key, String what) {
    if (changed.add(key)) {
      find(key, what);
    }
  }

  /** Adds the next delta of a partition; all replies must be known. */
  public void delta(ReplyDelta delta) {
    TrafficTurn key = TrafficTurn.of(delta);
    trails.computeIfAbsent(key, this::trail).add(delta);
  }

  private DeltaTrail trail(TrafficTurn key) {
    Reply reply = replies.get(key);
    boolean cut = cancelled.contains(key);
    return new DeltaTrail(reply, cut ? expected.getOrDefault(key, reply) : reply, cut);
  }

  /** Returns the result. Nothing may be added afterwards. */
  public Verdict verdict() {
    int lost = 0;
    int rejected = 0;
    int cut = 0;
    int broken = 0;
    for (TrafficTurn key : sent.keySet()) {
      Reply reply = replies.get(key);
      if (reply == null) {
        lost++;
        find(key, "no committed reply");
      } else if (reply.finishReason().equals(REJECTED)) {
        rejected++;
      } else if (reply.finishReason().equals(CANCELLED)) {
        cut++;
      }
    }
    for (Map.Entry<TrafficTurn, Reply> entry : replies.entrySet()) {
      EventKind kind = sent.get(entry.getKey()).kind();
      boolean streamed = kind == EventKind.MESSAGE || kind == EventKind.REGENERATE;
      DeltaTrail trail = trails.get(entry.getKey());
      String fault = trail == null ? (streamed ? "no deltas" : null) : trail.fault();
      if (fault != null) {
        broken++;
        find(entry.getKey(), fault);
      }
    }
    return new Verdict(
        sent.size(),
        replies.size() - rejected,
        rejected,
        cancelled.size(),
        cut,
        lost,
        doubled,
        changed.size(),
        forms.contents(),
        forms.calls(),
        disordered,
        broken,
        findings);
  }

  private void find(TrafficTurn key, String what) {
    if (findings.size() < MAX_FINDINGS) {
      findings.add(key + ": " + what);
    }
  }

  /**
   * The result of comparing the topics with the sent turns.
   *
   * @param sent turns that the brokers have
   * @param replied sent turns with exactly one committed reply that is not a rejection
   * @param rejected sent turns with exactly one committed rejection
   * @param cancels sent turns that a client cancelled
   * @param cancelled turns whose reply has only the text before the cancel
   * @param lost turns without a committed reply
   * @param doubled committed replies beyond the first of a turn, and replies to no turn
   * @param changed replies that differ from the undisturbed run, or lack the form that their turns
   *     require
   * @param contents finished replies that match their schema
   * @param calls tool calls whose arguments match their schemas
   * @param disordered replies that came before the reply of an earlier turn of their branch
   * @param brokenDeltas turns whose deltas leave a gap, differ from the reply, or do not end
   * @param findings descriptions of faults; only the first hundred
   */
  public record Verdict(
      int sent,
      int replied,
      int rejected,
      int cancels,
      int cancelled,
      int lost,
      int doubled,
      int changed,
      int contents,
      int calls,
      int disordered,
      int brokenDeltas,
      List<String> findings) {

    public Verdict {
      findings = List.copyOf(findings);
    }

    public boolean holds() {
      return lost + doubled + changed + disordered + brokenDeltas == 0;
    }
  }
}
