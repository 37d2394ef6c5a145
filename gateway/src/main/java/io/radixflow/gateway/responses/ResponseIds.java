package io.radixflow.gateway.responses;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.jobs.client.TurnPart;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.jobs.json.Texts;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Ids that clients get. An id holds what it names, so no gateway keeps a table: a response's id has
 * its session and turn, an item's id its turn and position. Ids come back from untrusted clients
 * and prove nothing: the job decides by its tenant whether an id may be read.
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

  /** The beginnings of items' ids: of messages and results, reasoning, and calls. */
  private static final List<String> ITEMS = List.of(ITEM, "rs_", "fc_");

  // two names of the longest ids, four bytes a character, and a tag
  private static final int MAX_BYTES = 8 * JsonObject.MAX_ID + 2 + 8;
  private static final int MAX_CHARS = 4 * ((MAX_BYTES + 2) / 3);

  private static final SecureRandom RANDOM = new SecureRandom();

  private ResponseIds() {}

  /**
   * The turn that a response's id names.
   *
   * @param tag says what its instructions were, see {@link #tag}
   */
  record TurnId(String session, String turn, String tag) {}

  /**
   * The turn and the position in it that an item's id names.
   *
   * @param position index among the turn's messages, or {@link #REPLY}
   */
  record ItemId(String turn, int position) {}

  /** Returns the id of the response to a turn. */
  static String response(String session, String turn, String tag) {
    return RESPONSE + encoded(session, turn, tag);
  }

  /**
   * Returns a short hash of a response's instructions. A response's id has it, so that the request
   * that follows shows by itself whether its instructions are others.
   *
   * @param instructions may be null, whose tag is empty
   */
  static String tag(String instructions) {
    if (instructions == null) {
      return "";
    }
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(instructions.getBytes(UTF_8));
      return HexFormat.of().formatHex(hash, 0, 4);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Returns what a response's id names; empty if it is not one that a gateway made. */
  static Optional<TurnId> parseResponse(String id) {
    return decoded(RESPONSE, id, 3)
        .filter(names -> TAG.matcher(names[2]).matches())
        .map(names -> new TurnId(names[0], names[1], names[2]));
  }

  /** Returns the id of an item: of a message of a turn, or of its reply. */
  static String item(String turn, int position) {
    return ITEM + encoded(turn, position == REPLY ? "r" : Integer.toString(position));
  }

  /**
   * Returns the id of an item that is a part of a message of a turn, or of its reply.
   *
   * @param part reasoning, the content or a call
   * @param nth how many items of text, or of reasoning, come before; 0 for a call
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

  /** Returns what an item's id names; empty if it is not one that a gateway made. */
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

  /** Returns a new conversation's id, which is its session's: 48 bits of time, 80 of chance. */
  static String newConversation(long millis) {
    byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    ByteBuffer.wrap(bytes).putShort((short) (millis >>> 32)).putInt((int) millis);
    return CONVERSATION + HexFormat.of().formatHex(bytes);
  }

  /** Returns whether a conversation's id looks like one that a gateway made. */
  static boolean isConversation(String id) {
    return CONVERSATION_ID.matcher(id).matches();
  }

  /** Returns when a conversation was made, in seconds since the epoch, as its id says. */
  static long createdAt(String conversation) {
    int from = CONVERSATION.length();
    return Long.parseLong(conversation.substring(from, from + 12), 16) / 1000;
  }

  /** Returns a new id of a session without a conversation. */
  static String newSession() {
    return "chain_" + random();
  }

  /** Returns a new id of a turn. */
  static String newTurn() {
    return random();
  }

  private static String random() {
    byte[] bytes = new byte[16];
    RANDOM.nextBytes(bytes);
    return base64(bytes);
  }

  private static String encoded(String... names) {
    return base64(String.join("\0", names).getBytes(UTF_8));
  }

  private static String base64(byte[] bytes) {
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
