package io.radixflow.gateway.turn;

import io.radixflow.client.PartText;
import io.radixflow.client.TurnPart;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.PromptTokens;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tracks how much of a reply a listener has received, and keeps the pieces that wait for the
 * listener. Consecutive pieces of one part are joined. Not thread-safe.
 *
 * <p>A delta contains the position of its text in the reply. A whole reply contains the order of
 * its parts if the order is not the usual one. Otherwise the text of each part is counted
 * separately: a whole reply may lack a part that was too large, and the positions of its other
 * parts must still be right.
 */
final class WaitingPieces {

  /**
   * The size in characters of an entry of log probabilities, and the overhead of each piece after
   * the first.
   */
  private static final int ENTRY_CHARACTERS = 48;

  /** Code points that the listener already has, and that this object has not seen again yet. */
  private int skipped;

  /** Code points and tokens of the reply so far. */
  private int offset;

  private int tokens;

  /** Tokens and characters of the prompt so far. */
  private int promptTokens;

  private int promptLength;

  private final Map<TurnPart, Integer> offsets = new HashMap<>();
  private final List<Growing> waiting = new ArrayList<>();
  private int characters;
  private int entries;

  /** A waiting piece. */
  private static final class Growing {
    private final int offset;
    private final TurnPart part;
    private final StringBuilder text = new StringBuilder();
    private int tokens;
    private final List<TokenLogprob> logprobs = new ArrayList<>();
    private final List<PromptTokens> prompt = new ArrayList<>();
    private final List<Integer> ids = new ArrayList<>();

    Growing(int offset, TurnPart part) {
      this.offset = offset;
      this.part = part;
    }

    TurnPiece piece() {
      return new TurnPiece(
          offset,
          part,
          text.toString(),
          tokens,
          List.copyOf(logprobs),
          PromptTokens.joined(prompt),
          List.copyOf(ids));
    }
  }

  /**
   * @param skipped how many code points of the reply the listener already has
   */
  WaitingPieces(int skipped) {
    this.skipped = skipped;
  }

  /** Returns whether a text follows the text so far without a gap. */
  boolean joins(int from) {
    return from <= offset;
  }

  /**
   * Adds the new part of a text.
   *
   * @param from the position of the text in the reply; {@link #joins} must be true for it
   * @return whether the text adds something
   */
  boolean take(int from, TurnPart part, String text) {
    return takeBeyond(offset - from, part, text);
  }

  /**
   * Adds the new part of a reply.
   *
   * @param reply the reply from its beginning
   * @param order see {@link PartText#of}
   */
  boolean take(Message reply, List<PartLength> order) {
    boolean adds = false;
    int from = 0;
    for (PartText run : PartText.of(reply, order)) {
      int known = order.isEmpty() ? offsets.getOrDefault(run.part(), 0) : offset - from;
      adds |= takeBeyond(known, run.part(), run.text());
      from += run.text().codePointCount(0, run.text().length());
    }
    return adds;
  }

  private boolean takeBeyond(int known, TurnPart part, String text) {
    int added = text.codePointCount(0, text.length()) - known;
    if (added <= 0) {
      return false;
    }
    offset += added;
    offsets.merge(part, added, Integer::sum);
    int had = Math.min(skipped, added);
    skipped -= had;
    if (added > had) {
      String rest = text.substring(text.offsetByCodePoints(0, known + had));
      growing(part, offset - (added - had)).text.append(rest);
      characters += rest.length();
    }
    return true;
  }

  /**
   * Adds tokens of the prompt; they come before all text.
   *
   * @param given the tokens; null for none
   */
  void takePrompt(PromptTokens given) {
    int known = given == null ? 0 : promptTokens - given.offset();
    if (given == null || known < 0 || known >= given.ids().size()) {
      return;
    }
    int had = given.offset() == 0 ? Math.min(promptLength, given.text().length()) : 0;
    List<Integer> ids = given.ids().subList(known, given.ids().size());
    List<TokenLogprob> scores = given.logprobs();
    growing(TurnPart.CONTENT, offset)
        .prompt
        .add(
            new PromptTokens(
                promptTokens,
                ids,
                given.text().substring(had),
                scores == null ? null : scores.subList(known, scores.size())));
    promptTokens += ids.size();
    promptLength += given.text().length() - had;
    characters += given.text().length() - had;
    for (int i = known; i < given.ids().size(); i++) {
      List<?> top = scores == null ? null : scores.get(i).top();
      entries += 1 + (top == null ? 0 : top.size());
    }
  }

  /**
   * Adds the tokens of the last added text.
   *
   * @param ids token ids; null if they are not shown
   */
  void takeTokens(int from, int count, List<TokenLogprob> given, List<Integer> ids) {
    int known = Math.max(0, tokens - from);
    if (count <= known) {
      return;
    }
    tokens = from + count;
    TurnPart part = waiting.isEmpty() ? TurnPart.CONTENT : last().part;
    Growing piece = growing(part, offset + skipped);
    piece.tokens += count - known;
    if (ids != null && ids.size() > known) {
      piece.ids.addAll(ids.subList(known, ids.size()));
      entries += ids.size() - known;
    }
    if (given != null && given.size() > known) {
      for (TokenLogprob each : given.subList(known, given.size())) {
        piece.logprobs.add(each);
        entries += each.top() == null ? 1 : 1 + each.top().size();
      }
    }
  }

  private Growing growing(TurnPart part, int from) {
    if (waiting.isEmpty() || !last().part.equals(part)) {
      waiting.add(new Growing(from, part));
    }
    return last();
  }

  private Growing last() {
    return waiting.get(waiting.size() - 1);
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Returns the size of all waiting pieces, in characters. */
  int characters() {
    return characters + (entries + Math.max(0, waiting.size() - 1)) * ENTRY_CHARACTERS;
  }

  /** Returns and removes the waiting pieces. */
  List<TurnPiece> remove() {
    List<TurnPiece> pieces = waiting.stream().map(Growing::piece).toList();
    clear();
    return pieces;
  }

  /** Removes the waiting pieces. */
  void clear() {
    waiting.clear();
    characters = 0;
    entries = 0;
  }
}
