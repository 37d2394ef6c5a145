package io.radixflow.text.template;

import io.radixflow.text.tokenizer.AddedToken;
import io.radixflow.text.tokenizer.AddedTokens;
import io.radixflow.text.tokenizer.VocabularyTokenizer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/**
 * A model's chat templates in Jinja, together with its tokenizer.
 *
 * <p>If texts from outside (contents, calls, definitions of tools, variables) contain the text of
 * an added token, the prompt is rendered a second time with these places marked ({@link
 * SpecialTokenEscaper}). The marks are removed before the text between special tokens is encoded,
 * so the ids are the same as for plain text.
 */
public final class JinjaChatTemplate implements ChatTemplate {
  /** How texts are marked: by a guard with a separator, or not at all. */
  private record Marking(SpecialTokenEscaper guard, int separator) {
    static final Marking NONE = new Marking(null, -1);

    PromptVariables apply(PromptVariables prompt) {
      return guard == null ? prompt : guard.mark(prompt, (char) separator);
    }
  }

  private final NamedTemplates templates;
  private final VocabularyTokenizer tokenizer;
  private final List<SpecialTokenEscaper> guards;

  public JinjaChatTemplate(NamedTemplates templates, VocabularyTokenizer tokenizer) {
    this.templates = templates;
    this.tokenizer = tokenizer;
    AddedTokens added = tokenizer.vocabulary().added();
    // A template may search earlier replies for markup such as <think>. If marks inside it change
    // the outcome, only special tokens are marked.
    guards =
        List.of(
            new SpecialTokenEscaper(added, token -> true),
            new SpecialTokenEscaper(added, AddedToken::special));
  }

  @Override
  public String source() {
    return templates.source();
  }

  @Override
  public String render(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    JinjaRenderer renderer = templates.choose(options);
    return attempt(
        renderer,
        messages,
        form -> renderer.prompt(PromptVariables.of(messages, options, form), addGenerationPrompt));
  }

  @Override
  public int[] encode(
      List<Message> messages, boolean addGenerationPrompt, TemplateOptions options) {
    JinjaRenderer renderer = templates.choose(options);
    return attempt(
        renderer,
        messages,
        form -> {
          PromptVariables prompt = PromptVariables.of(messages, options, form);
          return encode(prompt, given -> renderer.prompt(given, addGenerationPrompt));
        });
  }

  private int[] encode(PromptVariables prompt, Function<PromptVariables, String> rendering) {
    Marking marking = marking(rendering, prompt);
    String text = rendering.apply(marking.apply(prompt));
    return tokenizer.encodeRuns(text, marking.separator(), true);
  }

  @Override
  public Continued encodeContinued(List<Message> messages, TemplateOptions options) {
    JinjaRenderer renderer = templates.choose(options);
    List<Message> before = messages.subList(0, messages.size() - 1);
    return attempt(
        renderer,
        messages,
        form -> {
          PromptVariables prompt = PromptVariables.of(messages, options, form);
          String whole = renderer.continued(prompt);
          String opening = opening(renderer, PromptVariables.of(before, options, form));
          if (opening != null && whole.startsWith(opening)) {
            String rest = whole.substring(opening.length());
            String content = messages.get(messages.size() - 1).content();
            if (rest.equals(content) || !isJoinedBySpace(opening, rest)) {
              return new Continued(true, encodeReply(rest));
            }
          }
          return new Continued(false, encode(prompt, renderer::continued));
        });
  }

  /**
   * Returns the prompt with the beginning of a reply; null if the template fails for these
   * messages.
   */
  private static String opening(JinjaRenderer renderer, PromptVariables before) {
    try {
      return renderer.prompt(before, true);
    } catch (ChatTemplateException e) {
      return null;
    }
  }

  /**
   * Returns whether white space at the end of the first and the start of the next text may be one
   * token.
   */
  private static boolean isJoinedBySpace(String first, String next) {
    return !first.isEmpty()
        && !next.isEmpty()
        && Character.isWhitespace(first.charAt(first.length() - 1))
        && Character.isWhitespace(next.charAt(0));
  }

  @Override
  public int[] encodeReply(String text) {
    SpecialTokenEscaper special = guards.get(1);
    if (!special.concerns(text)) {
      return tokenizer.encodeRuns(text, -1, false);
    }
    char separator = SpecialTokenEscaper.unused(text);
    return tokenizer.encodeRuns(special.mark(text, separator), separator, false);
  }

  @Override
  public int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options) {
    List<Message> all = new ArrayList<>(before);
    all.addAll(added);
    JinjaRenderer renderer = templates.choose(options);
    return attempt(renderer, all, form -> encodeTurn(renderer, before, all, options, form));
  }

  private int[] encodeTurn(
      JinjaRenderer renderer,
      List<Message> before,
      List<Message> all,
      TemplateOptions options,
      MessageForm form) {
    PromptVariables prompt = PromptVariables.of(all, options, form);
    Marking marking = marking(given -> renderer.prompt(given, true), prompt);
    String whole = renderer.prompt(marking.apply(prompt), true);
    PromptVariables marked = marking.apply(PromptVariables.of(before, options, form));
    String earlier = renderer.prompt(marked, false);
    if (!whole.startsWith(earlier)) {
      return null;
    }
    int turnEnd = lastTurnEnd(earlier);
    String reply = marked.lastContent().strip();
    if (turnEnd < 0 || !reply.isEmpty() && earlier.lastIndexOf(reply) >= turnEnd) {
      return null;
    }
    return tokenizer.encodeRuns(whole.substring(turnEnd), marking.separator(), false);
  }

  /**
   * Uses the form of messages that the template needs. If it fails, tries the next form that
   * changes this conversation.
   *
   * @throws ChatTemplateException if all forms fail; it is the failure of the first form
   */
  private static <T> T attempt(
      JinjaRenderer renderer, List<Message> messages, Function<MessageForm, T> use) {
    MessageForm usual = renderer.form();
    try {
      return use.apply(usual);
    } catch (ChatTemplateException first) {
      Set<Object> tried = new HashSet<>();
      for (MessageForm form : first.isLimit() ? List.<MessageForm>of() : usual.attempts()) {
        Object given = new TemplateMessages(form).of(messages);
        if (tried.add(given) && !form.equals(usual)) {
          try {
            return use.apply(form);
          } catch (ChatTemplateException next) {
            // the first failure describes the conversation as it was sent
          }
        }
      }
      throw first;
    }
  }

  /** Returns the weakest marking that keeps text from outside from being read as tokens. */
  private Marking marking(Function<PromptVariables, String> rendering, PromptVariables prompt) {
    if (!guards.get(0).concerns(prompt)) {
      return Marking.NONE;
    }
    String plain = rendering.apply(prompt);
    char separator = SpecialTokenEscaper.unused(prompt, plain);
    for (SpecialTokenEscaper guard : guards) {
      if (!guard.concerns(prompt)) {
        return Marking.NONE;
      }
      String marked = rendering.apply(guard.mark(prompt, separator));
      if (marked.replace(String.valueOf(separator), "").equals(plain)) {
        return new Marking(guard, separator);
      }
    }
    throw new ChatTemplateException(
        "a message contains the text of a special token in a place that the chat template edits;"
            + " leave it out");
  }

  /** Returns the end of the last end-of-turn token that the template wrote; -1 if there is none. */
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
