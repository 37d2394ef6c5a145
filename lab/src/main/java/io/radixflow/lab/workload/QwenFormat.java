package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.lab.simulate.CacheWorkload;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Traces as Qwen-Bailian published them: requests with ids of 16-token blocks, whose equality means
 * equal content, and the request of the conversation's turn before. Requests are replayed in the
 * file's order.
 */
final class QwenFormat implements WorkloadFormat {
  private static final int BLOCK_TOKENS = 16;
  private static final int MAX_CHATS = 1 << 24;

  /** A request that others may follow. */
  private static final class Chat {
    final int session;
    final int branch;
    boolean followed;

    Chat(int session, int branch) {
      this.session = session;
      this.branch = branch;
    }
  }

  private final int blockTokens;
  private final int blocksPerPage;
  private final CacheWorkload.Builder requests = new CacheWorkload.Builder();
  private final PageJoiner pages;
  private final Map<Long, Chat> chats = new HashMap<>();
  private int sessions;
  private int branches;

  QwenFormat(WorkloadOptions options) throws WorkloadException {
    this.blockTokens =
        options.blockTokens() == WorkloadOptions.MOONCAKE_BLOCK
            ? BLOCK_TOKENS
            : options.blockTokens();
    this.blocksPerPage = options.blocksPerPage(blockTokens, blockTokens);
    this.pages = new PageJoiner(requests, blocksPerPage);
  }

  static boolean recognises(JsonObject record) {
    return record.has("chat_id") && record.has("hash_ids");
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonObject fields = line.fields().require("chat_id", "input_length", "hash_ids");
    Chat chat = chat(fields);
    long length = fields.integer("input_length", 0, Integer.MAX_VALUE);
    long inputs = (length + blockTokens - 1) / blockTokens;
    JsonNode ids = fields.array("hash_ids", "ids", Integer.MAX_VALUE);
    requests.begin(0, chat.session, chat.branch);
    pages.begin();
    for (int i = 0; i < ids.size(); i++) {
      if (i == inputs) {
        requests.endInput();
      }
      pages.addBlock(JsonObject.integer("hash_ids", ids.get(i), Long.MIN_VALUE, Long.MAX_VALUE));
    }
  }

  /** Returns the request's place: the branch of the one before it, or a new one. */
  private Chat chat(JsonObject fields) {
    if (chats.size() >= MAX_CHATS) {
      throw new IllegalArgumentException("there are more than " + MAX_CHATS + " requests");
    }
    long parent = fields.integer("parent_chat_id", Long.MIN_VALUE, Long.MAX_VALUE, -1);
    Chat before = chats.get(parent);
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
    return new Workload(
        "request trace with conversations",
        blocksPerPage * blockTokens,
        requests.build(),
        List.of(
            blocksPerPage == 1
                ? "ids stand for " + blockTokens + " tokens"
                : blocksPerPage + " blocks of " + blockTokens + " tokens make a page"));
  }
}
