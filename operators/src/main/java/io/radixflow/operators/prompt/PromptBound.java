package io.radixflow.operators.prompt;

import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes a lower bound of the number of tokens of messages, without running a template or a
 * tokenizer. So prompts that cannot fit are refused early. The bound counts only text that
 * templates and tokenizers keep: one token per message with a text, and the letters and digits of
 * users, divided by the maximum letters and digits of a token. Called by intake threads;
 * thread-safe.
 */
public final class PromptBound {
  /** Pairs of messages in the sample that shows whether the template writes every message. */
  private static final int PAIRS = 8;

  private static final int REPEATED = 64;

  private final ChatTemplate template;
  private final Tokenizer tokenizer;
  private volatile Rates rates;

  /**
   * How texts become tokens.
   *
   * @param eachMessage whether each message is at least one token
   * @param longest maximum letters and digits of a token; 0 if tokens may omit them
   */
  private record Rates(boolean eachMessage, int longest) {}

  public PromptBound(ChatTemplate template, Tokenizer tokenizer) {
    this.template = template;
    this.tokenizer = tokenizer;
  }

  /** Returns the minimum number of tokens of one turn's messages. */
  public int leastTokens(List<Message> messages) {
    Rates known = rates();
    long letters = 0;
    int count = 0;
    for (Message message : messages) {
      String text = message.content();
      if (text != null && !text.isBlank()) {
        count++;
        letters += message.role().equals("user") ? letters(text) : 0;
      }
    }
    long least = known.longest == 0 ? 0 : letters / known.longest;
    return (int) Math.min(Integer.MAX_VALUE, Math.max(least, known.eachMessage ? count : 0));
  }

  private static int letters(String text) {
    int count = 0;
    for (int i = 0; i < text.length(); i++) {
      count += isLetter(text.charAt(i)) ? 1 : 0;
    }
    return count;
  }

  private static boolean isLetter(int c) {
    return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9';
  }

  private Rates rates() {
    Rates known = rates;
    if (known == null) {
      known = new Rates(writesEachMessage(), longest());
      rates = known;
    }
    return known;
  }

  private boolean writesEachMessage() {
    List<Message> messages = new ArrayList<>(List.of(new Message("user", "a")));
    try {
      int one = template.encode(messages, true, TemplateOptions.NONE).length;
      for (int i = 0; i < PAIRS; i++) {
        messages.add(new Message("assistant", "b"));
        messages.add(new Message("user", "c"));
      }
      return template.encode(messages, true, TemplateOptions.NONE).length - one >= 2 * PAIRS;
    } catch (ChatTemplateException e) {
      return false; // the template does not accept these plain messages
    }
  }

  private int longest() {
    int longest = 1;
    for (int id = 0; id < tokenizer.vocabSize(); id++) {
      int count = 0;
      for (byte each : tokenizer.bytes(id)) {
        count += isLetter(each) ? 1 : 0;
      }
      longest = Math.max(longest, count);
    }
    for (char c = '0'; c <= 'z'; c++) {
      int tokens =
          isLetter(c) ? tokenizer.encode(String.valueOf(c).repeat(REPEATED)).length : REPEATED;
      if (tokens < REPEATED / longest) {
        return 0; // a run of characters that are not in the vocabulary is one token
      }
    }
    return longest;
  }
}
