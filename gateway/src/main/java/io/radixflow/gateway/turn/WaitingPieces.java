package io.radixflow.gateway.turn;

import io.radixflow.jobs.client.PartText;
import io.radixflow.jobs.client.TurnPart;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.record.PartLength;
import io.radixflow.operators.record.PromptTokens;
import io.radixflow.operators.record.Reply.TokenLogprob;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Tracks how much of a reply a listener has, and holds the pieces that wait for it. Pieces of one
 * part that follow each other are joined into one. Not safe for several threads.
 *
 * <p>A delta says where in the reply its text is. A whole reply says in which order its parts were
 * written, if that is not the usual one; otherwise the text of each part is counted, so that a
 * reply that lost a part for its size adds nothing wrong.
 */
final class WaitingPieces {

  /** Characters that an entry of log probabilities counts for, and a piece beyond the first. */
  private static final int ENTRY_CHARACTERS = 48;

  /** Code points that the listener had before, and that are not taken yet. */
  private int skipped;

  /** Code points and tokens of the reply that were taken. */
  private int offset;

  private int tokens;

  /** Tokens and characters of the prompt that were taken. */
  private int promptTokens;

  private int promptLength;

  private final Map<TurnPart, Integer> offsets = new HashMap<>();
  private final List<Growing> waiting = new ArrayList<>();
  private int characters;
  private int entries;

  /** A piece that waits. */
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
   * @param skipped code points of the reply that the listener has
   */
  WaitingPieces(int skipped) {
    this.skipped = skipped;
  }

  /** Returns whether there is no gap between what was taken and a text. */
  boolean joins(int from) {
    return from <= offset;
  }

  /**
   * Takes what a text adds.
   *
   * @param from where in the reply it begins; {@link #joins} must be true of it
   * @return whether it adds something
   */
  boolean take(int from, TurnPart part, String text) {
    return takeBeyond(offset - from, part, text);
  }

  /**
   * Takes what a reply adds.
   *
   * @param reply all of it from its beginning
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
   * Takes tokens of the prompt, which come before all text.
   *
   * @param given null for none
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
   * Takes tokens; they stand for the text that was taken last.
   *
   * @param ids null if they are not shown
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

  /** Returns what all that waits counts for, in characters. */
  int characters() {
    return characters + (entries + Math.max(0, waiting.size() - 1)) * ENTRY_CHARACTERS;
  }

  /** Returns what waits, and forgets it. */
  List<TurnPiece> remove() {
    List<TurnPiece> pieces = waiting.stream().map(Growing::piece).toList();
    clear();
    return pieces;
  }

  /** Forgets what waits. */
  void clear() {
    waiting.clear();
    characters = 0;
    entries = 0;
  }
}
