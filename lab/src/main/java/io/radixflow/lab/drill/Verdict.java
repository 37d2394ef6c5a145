package io.radixflow.lab.drill;

import java.util.List;

/**
 * The result of comparing the topics with what was sent.
 *
 * @param sent turns that the brokers have
 * @param replied of those, with exactly one committed reply that is no rejection
 * @param rejected of those, with exactly one committed rejection
 * @param cancels of those sent, how many a client cancelled
 * @param cancelled of those replied, with what was there when the cancel came
 * @param lost of those, without a committed reply
 * @param doubled committed replies beyond the first of a turn, and replies to no turn
 * @param changed replies that are not the undisturbed run's
 * @param disordered replies that came before one of an earlier turn of their branch
 * @param brokenDeltas turns whose deltas leave a gap, differ from the reply, or do not end
 * @param findings descriptions of what is wrong; only the first hundred
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
    int disordered,
    int brokenDeltas,
    List<String> findings) {

  public Verdict {
    findings = List.copyOf(findings);
  }

  /** Returns true if nothing is wrong. */
  public boolean holds() {
    return lost + doubled + changed + disordered + brokenDeltas == 0;
  }
}
