package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.protocol.json.JsonObject;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Traces with {@code hash_ids}: an id for each block of a request. Requests are replayed in the
 * order of the file.
 *
 * <p>Mooncake's traces have the blocks of the prompt, and the last block may not be full; equal ids
 * mean equal prefixes. Qwen-Bailian's traces also have {@code chat_id}. They have blocks of 16
 * tokens of prompt and reply, and the request of the conversation's previous turn; equal ids mean
 * equal content of a block.
 */
final class BlockIdsFormat implements WorkloadFormat {
  private static final int CHAT_BLOCK_TOKENS = 16;
  private static final int MAX_CHATS = 1 << 24;

  /** A request that other requests may follow. */
  private static final class Chat {
    final int session;
    final int branch;
    boolean followed;

    Chat(int session, int branch) {
      this.session = session;
      this.branch = branch;
    }
  }

  private final boolean chatty;
  private final int blockTokens;
  private final int blocksPerPage;
  private final CacheWorkload.Builder requests = new CacheWorkload.Builder();
  private final PageJoiner pages;
  private final Map<Long, Chat> chats = new HashMap<>();
  private int sessions;
  private int branches;

  /**
   * @param chatty whether records have {@code chat_id}
   */
  BlockIdsFormat(WorkloadOptions options, boolean chatty) throws WorkloadException {
    this.chatty = chatty;
    boolean given = options.blockTokens() != WorkloadOptions.MOONCAKE_BLOCK;
    this.blockTokens = chatty && !given ? CHAT_BLOCK_TOKENS : options.blockTokens();
    this.blocksPerPage = options.blocksPerPage(blockTokens, blockTokens);
    this.pages = new PageJoiner(requests, blocksPerPage);
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonObject fields =
        chatty
            ? line.fields().require("chat_id", "input_length", "hash_ids")
            : line.fields().require("hash_ids");
    JsonNode ids = fields.array("hash_ids", "ids", Integer.MAX_VALUE);
    long length = fields.integer("input_length", 0, Integer.MAX_VALUE, -1);
    long inputs = length < 0 ? ids.size() : (length + blockTokens - 1) / blockTokens;
    if (chatty) {
      addChat(fields, ids, inputs);
      return;
    }
    if (inputs != ids.size()) {
      throw line.error(
          "%d tokens are %d blocks of %d, but hash_ids has %d; say with --block-tokens how many tokens an id stands for"
              .formatted(length, inputs, blockTokens, ids.size()));
    }
    requests.begin(0);
    pages.begin();
    for (int i = 0; i < ids.size(); i++) {
      pages.addRange(JsonObject.integer("hash_ids[" + i + "]", ids.get(i), 0, Long.MAX_VALUE), 1);
    }
  }

  private void addChat(JsonObject fields, JsonNode ids, long inputs) {
    Chat chat = chat(fields);
    requests.begin(0, chat.session, chat.branch);
    pages.begin();
    for (int i = 0; i < ids.size(); i++) {
      if (i == inputs) {
        requests.endInput();
      }
      pages.addBlock(JsonObject.integer("hash_ids", ids.get(i), Long.MIN_VALUE, Long.MAX_VALUE));
    }
  }

  /** Returns the request's place: the branch of the previous request, or a new branch. */
  private Chat chat(JsonObject fields) {
    if (chats.size() >= MAX_CHATS) {
      throw new IllegalArgumentException("there are more than " + MAX_CHATS + " requests");
    }
    Chat before = chats.get(fields.integer("parent_chat_id", Long.MIN_VALUE, Long.MAX_VALUE, -1));
    Chat chat;
    if (before == null) {
      chat = new Chat(sessions++, 0);
    } else {
      chat = new Chat(before.session, before.followed ? ++branches : before.branch);
      before.followed = true;
    }
    chats.put(fields.integer("chat_id", Long.MIN_VALUE, Long.MAX_VALUE), chat);
    return chat;
  }

  @Override
  public Workload finish() {
    String pageNote = blocksPerPage + " blocks of " + blockTokens + " tokens make a page";
    String note = blocksPerPage > 1 ? pageNote : "ids stand for " + blockTokens + " tokens";
    return new Workload(
        chatty ? "request trace with conversations" : "request trace with block ids",
        blocksPerPage * blockTokens,
        requests.build(),
        chatty || blocksPerPage > 1 ? List.of(note) : List.of());
  }
}
