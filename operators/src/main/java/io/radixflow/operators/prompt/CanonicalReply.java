package io.radixflow.operators.prompt;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.template.ToolCall;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Converts a reply's generated ids to the ids that later prompts contain instead. Immutable. */
public final class CanonicalReply {
  private final Tokenizer tokenizer;
  private final int[] ends;
  private final int end;
  private final int endOfCalls;

  public CanonicalReply(ServedModel model) {
    this.tokenizer = model.tokenizer();
    this.ends = tokenizer.endOfTurnIds().clone();
    Message answer = new Message("assistant", "b");
    this.end = templateEnd(model, answer, ends.length == 0 ? -1 : ends[0]);
    ToolCall call = new ToolCall("call00001", "f", "{}");
    this.endOfCalls =
        templateEnd(model, new Message("assistant", "", null, List.of(call), null, null), this.end);
  }

  /**
   * Returns the ids of a reply in later prompts. A reply that ended its turn keeps its generated
   * ids. A reply that was cut by a limit, a stop string or a cancel gets the ids of the shown text:
   * generated ids are kept as far as they spell this text, and the rest of the text is encoded.
   * Both kinds end with the template's end-of-turn id.
   *
   * @param generated ids as generated
   * @param text the reply's visible text
   */
  public int[] ids(int[] generated, String text) {
    return ids(generated, text, false);
  }

  /**
   * The same as {@link #ids(int[], String)}.
   *
   * @param calls whether the reply calls tools; a template may write another end after calls
   */
  public int[] ids(int[] generated, String text, boolean calls) {
    int end = calls ? endOfCalls : this.end;
    if (generated.length > 0 && isEnd(generated[generated.length - 1])) {
      int[] ids = generated.clone();
      ids[ids.length - 1] = end;
      return ids;
    }
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    int spelt = 0;
    int kept = 0;
    int at = 0;
    for (int i = 0; i < generated.length; i++) {
      byte[] piece = spelling(generated[i], utf8, at);
      if (at + piece.length > utf8.length
          || !Arrays.equals(piece, 0, piece.length, utf8, at, at + piece.length)) {
        break;
      }
      at += piece.length;
      if (at == utf8.length || (utf8[at] & 0xC0) != 0x80) {
        kept = i + 1;
        spelt = at;
      }
    }
    int[] rest =
        tokenizer.encode(new String(utf8, spelt, utf8.length - spelt, StandardCharsets.UTF_8));
    int[] ids = Arrays.copyOf(generated, kept + rest.length + 1);
    System.arraycopy(rest, 0, ids, kept, rest.length);
    ids[ids.length - 1] = end;
    return ids;
  }

  /**
   * Returns the bytes of a token in a text; the text may contain the bytes of a special token or
   * not.
   */
  private byte[] spelling(int id, byte[] text, int at) {
    String mark = tokenizer.markup().get(id);
    if (mark == null) {
      return tokenizer.bytes(id);
    }
    byte[] marked = mark.getBytes(StandardCharsets.UTF_8);
    int end = Math.min(text.length, at + marked.length);
    return Arrays.equals(text, at, end, marked, 0, marked.length) ? marked : new byte[0];
  }

  /**
   * Returns which of the tokenizer's end-of-turn ids the template writes after a reply.
   *
   * @param otherwise the result if the template writes none
   */
  private int templateEnd(ServedModel model, Message reply, int otherwise) {
    try {
      int[] ids =
          model
              .chatTemplate()
              .encode(List.of(new Message("user", "a"), reply), false, TemplateOptions.NONE);
      for (int i = ids.length - 1; i >= 0; i--) {
        if (isEnd(ids[i])) {
          return ids[i];
        }
      }
    } catch (ChatTemplateException e) {
      // the template requires more than two plain messages
    }
    return otherwise; // a model without a template does not need it
  }

  private boolean isEnd(int id) {
    for (int candidate : ends) {
      if (candidate == id) {
        return true;
      }
    }
    return false;
  }
}
