package io.radixflow.gateway.responses;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.TurnPart;
import io.radixflow.gateway.http.RandomIds;
import io.radixflow.models.Sha256;
import io.radixflow.protocol.json.JsonObject;
import io.radixflow.protocol.json.Texts;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Ids of responses, items and conversations. An id contains the names of its object, so no gateway
 * keeps a table: a response's id contains session and turn, an item's id contains turn and
 * position. Ids come back from untrusted clients and prove nothing. The job decides by the tenant
 * whether the object may be read.
 */
final class ResponseIds {

  /** The position in an item's id if the item is the turn's reply. */
  static final int REPLY = -1;

  private static final String RESPONSE = "resp_";
  private static final String ITEM = "msg_";
  private static final String CONVERSATION = "conv_";
  private static final Pattern CONVERSATION_ID = Pattern.compile("conv_[0-9a-f]{32}");
  private static final Pattern TAG = Pattern.compile("|[0-9a-f]{8}");
  private static final Pattern POSITION =
      Pattern.compile("(r|0|[1-9][0-9]{0,5})(t|c0|[mtc][1-9][0-9]{0,5})?");

  /** The prefixes of item ids: for messages and results, for reasoning, and for calls. */
  private static final List<String> ITEMS = List.of(ITEM, "rs_", "fc_");

  // two of the longest names, four bytes per character, and a tag
  private static final int MAX_BYTES = 8 * JsonObject.MAX_ID + 2 + 8;
  private static final int MAX_CHARS = 4 * ((MAX_BYTES + 2) / 3);

  private static final SecureRandom RANDOM = new SecureRandom();

  private ResponseIds() {}

  /**
   * The content of a response's id.
   *
   * @param tag identifies the instructions; see {@link #tag}
   */
  record TurnId(String session, String turn, String tag) {}

  /**
   * The content of an item's id.
   *
   * @param position index among the turn's messages, or {@link #REPLY}
   */
  record ItemId(String turn, int position) {}

  /** Returns the id of the response to a turn. */
  static String response(String session, String turn, String tag) {
    return RESPONSE + encoded(session, turn, tag);
  }

  /**
   * Returns a short hash of a response's instructions. The response's id contains the hash, so that
   * a gateway can see from the next request alone whether the instructions have changed.
   *
   * @param instructions the instructions; null gives an empty tag
   */
  static String tag(String instructions) {
    return instructions == null ? "" : Sha256.digits(instructions).substring(0, 8);
  }

  /** Returns the content of a response's id; empty if no gateway made the id. */
  static Optional<TurnId> parseResponse(String id) {
    return decoded(RESPONSE, id, 3)
        .filter(names -> TAG.matcher(names[2]).matches())
        .map(names -> new TurnId(names[0], names[1], names[2]));
  }

  /** Returns the id of an item that is a message of a turn, or the turn's reply. */
  static String item(String turn, int position) {
    return ITEM + encoded(turn, position == REPLY ? "r" : Integer.toString(position));
  }

  /**
   * Returns the id of an item that is a part of a message of a turn, or of the turn's reply.
   *
   * @param part reasoning, content or a call
   * @param nth how many items of text, or of reasoning, precede this item; 0 for a call
   */
  static String part(String turn, int position, TurnPart part, int nth) {
    String of = position == REPLY ? "r" : Integer.toString(position);
    if (part.isContent()) {
      return nth == 0 ? item(turn, position) : ITEM + encoded(turn, of + "m" + nth);
    }
    return part.isReasoning()
        ? "rs_" + encoded(turn, of + "t" + (nth == 0 ? "" : nth))
        : "fc_" + encoded(turn, of + "c" + part.index());
  }

  /** Returns the content of an item's id; empty if no gateway made the id. */
  static Optional<ItemId> parseItem(String id) {
    return ITEMS.stream()
        .flatMap(prefix -> decoded(prefix, id, 2).stream())
        .filter(names -> POSITION.matcher(names[1]).matches())
        .map(names -> new ItemId(names[0], position(names[1])))
        .findFirst();
  }

  private static int position(String code) {
    String of = code.replaceFirst("[tcm][0-9]*$", "");
    return of.equals("r") ? REPLY : Integer.parseInt(of);
  }

  /**
   * Returns the id of a new conversation, which is also its session's id: 48 bits of time and 80
   * random bits.
   */
  static String newConversation(long millis) {
    byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    ByteBuffer.wrap(bytes).putShort((short) (millis >>> 32)).putInt((int) millis);
    return CONVERSATION + HexFormat.of().formatHex(bytes);
  }

  /** Returns whether a conversation's id has the form of a gateway's ids. */
  static boolean isConversation(String id) {
    return CONVERSATION_ID.matcher(id).matches();
  }

  /** Returns the creation time in a conversation's id, in seconds since the epoch. */
  static long createdAt(String conversation) {
    int from = CONVERSATION.length();
    return Long.parseLong(conversation.substring(from, from + 12), 16) / 1000;
  }

  /** Returns a new id for a session without a conversation. */
  static String newSession() {
    return RandomIds.next("chain");
  }

  /** Returns a new id for a turn. */
  static String newTurn() {
    return RandomIds.next("turn");
  }

  private static String encoded(String... names) {
    byte[] bytes = String.join("\0", names).getBytes(UTF_8);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static Optional<String[]> decoded(String prefix, String id, int count) {
    if (id == null || !id.startsWith(prefix) || id.length() > prefix.length() + MAX_CHARS) {
      return Optional.empty();
    }
    String code = id.substring(prefix.length());
    String text;
    try {
      byte[] bytes = Base64.getUrlDecoder().decode(code);
      text = UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (IllegalArgumentException | CharacterCodingException e) {
      return Optional.empty();
    }
    String[] names = text.split("\0", -1);
    boolean valid =
        names.length == count
            && isId(names[0])
            && (count == 2 || isId(names[1]))
            && encoded(names).equals(code);
    return valid ? Optional.of(names) : Optional.empty();
  }

  private static boolean isId(String name) {
    return !name.isEmpty() && Texts.length(name) <= JsonObject.MAX_ID && Texts.isPlain(name);
  }
}
