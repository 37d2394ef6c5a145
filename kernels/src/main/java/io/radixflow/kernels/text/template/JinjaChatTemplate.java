package io.radixflow.kernels.text.template;

import io.radixflow.kernels.text.tokenizer.AddedToken;
import io.radixflow.kernels.text.tokenizer.AddedTokens;
import io.radixflow.kernels.text.tokenizer.VocabularyTokenizer;
import java.util.ArrayList;
import java.util.List;

/**
 * A chat template in Jinja with its model's tokenizer.
 *
 * <p>Contents that spell added tokens are rendered a second time with the spellings marked ({@link
 * SpecialTokenEscaper}); the marks are deleted again before the runs between special tokens are
 * encoded, so that ids are those of the plain text.
 */
public final class JinjaChatTemplate implements ChatTemplate {

  /** The way that contents are marked: by a guard with a separator, or not at all. */
  private record Marking(SpecialTokenEscaper guard, int separator) {
    static final Marking NONE = new Marking(null, -1);

    List<ChatMessage> apply(List<ChatMessage> messages) {
      return guard == null ? messages : guard.mark(messages, (char) separator);
    }
  }

  private final JinjaRenderer renderer;
  private final VocabularyTokenizer tokenizer;
  private final List<SpecialTokenEscaper> guards;

  public JinjaChatTemplate(JinjaRenderer renderer, VocabularyTokenizer tokenizer) {
    this.renderer = renderer;
    this.tokenizer = tokenizer;
    AddedTokens added = tokenizer.vocabulary().added();
    // A template may look for markup such as <think> in earlier replies; where marks in it change
    // the outcome, such tokens, which are not special, are let through.
    guards =
        List.of(
            new SpecialTokenEscaper(added, token -> true),
            new SpecialTokenEscaper(added, AddedToken::special));
  }

  @Override
  public String source() {
    return renderer.source();
  }

  @Override
  public String render(
      List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options) {
    return renderer.render(messages, addGenerationPrompt, options);
  }

  @Override
  public int[] encode(
      List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options) {
    Marking marking = marking(messages, addGenerationPrompt, options);
    String text = render(marking.apply(messages), addGenerationPrompt, options);
    return tokenizer.encodeRuns(text, marking.separator(), true);
  }

  @Override
  public int[] encodeTurn(
      List<ChatMessage> before, List<ChatMessage> added, TemplateOptions options) {
    List<ChatMessage> all = new ArrayList<>(before);
    all.addAll(added);
    Marking marking = marking(all, true, options);
    String whole = render(marking.apply(all), true, options);
    List<ChatMessage> marked = marking.apply(before);
    String earlier = render(marked, false, options);
    if (!whole.startsWith(earlier)) {
      return null;
    }
    int turnEnd = lastTurnEnd(earlier);
    String content = marked.get(marked.size() - 1).content();
    String reply = content == null ? "" : content.strip();
    if (turnEnd < 0 || !reply.isEmpty() && earlier.lastIndexOf(reply) >= turnEnd) {
      return null;
    }
    return tokenizer.encodeRuns(whole.substring(turnEnd), marking.separator(), false);
  }

  /** The least marking with which no content is taken for a token. */
  private Marking marking(
      List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options) {
    if (!guards.get(0).concerns(messages)) {
      return Marking.NONE;
    }
    String plain = render(messages, addGenerationPrompt, options);
    char separator = SpecialTokenEscaper.unused(messages, plain);
    for (SpecialTokenEscaper guard : guards) {
      if (!guard.concerns(messages)) {
        return Marking.NONE;
      }
      String marked = render(guard.mark(messages, separator), addGenerationPrompt, options);
      if (marked.replace(String.valueOf(separator), "").equals(plain)) {
        return new Marking(guard, separator);
      }
    }
    throw new ChatTemplateException(
        "a message spells a special token in a place where the model's chat template edits it;"
            + " leave it out");
  }

  /** The end of the last end-of-turn token that the template wrote, or -1. */
  private int lastTurnEnd(String text) {
    char[] chars = text.toCharArray();
    AddedTokens added = tokenizer.vocabulary().added();
    int end = -1;
    int at = 0;
    while (at < chars.length) {
      AddedToken token = added.match(chars, at, chars.length);
      if (token == null) {
        at++;
      } else {
        at += token.text().length();
        if (tokenizer.vocabulary().endsTurn(token.id())) {
          end = at;
        }
      }
    }
    return end;
  }
}
