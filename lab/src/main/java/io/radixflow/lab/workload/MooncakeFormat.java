package io.radixflow.lab.workload;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.json.JsonObject;
import io.radixflow.lab.simulate.CacheWorkload;
import java.util.List;

/**
 * Traces as Mooncake published them: {@code hash_ids} has an id for each block of a prompt, the
 * last one perhaps not full; equal ids are equal prefixes. Requests are replayed in the file's
 * order.
 */
final class MooncakeFormat implements WorkloadFormat {
  private final int blockTokens;
  private final int blocksPerPage;
  private final CacheWorkload.Builder requests = new CacheWorkload.Builder();
  private final PageJoiner pages;

  MooncakeFormat(WorkloadOptions options) throws WorkloadException {
    this.blockTokens = options.blockTokens();
    this.blocksPerPage = options.blocksPerPage(blockTokens, blockTokens);
    this.pages = new PageJoiner(requests, blocksPerPage);
  }

  static boolean recognises(JsonObject record) {
    return record.has("hash_ids");
  }

  @Override
  public void add(WorkloadLine line) throws WorkloadException {
    JsonNode ids = line.fields().require("hash_ids").array("hash_ids", "ids", Integer.MAX_VALUE);
    if (line.fields().has("input_length")) {
      checkLength(line, ids.size());
    }
    requests.begin(0);
    pages.begin();
    for (int i = 0; i < ids.size(); i++) {
      pages.addRange(JsonObject.integer("hash_ids[" + i + "]", ids.get(i), 0, Long.MAX_VALUE), 1);
    }
  }

  private void checkLength(WorkloadLine line, int ids) throws WorkloadException {
    long length = line.fields().integer("input_length", 0, Integer.MAX_VALUE);
    long blocks = (length + blockTokens - 1) / blockTokens;
    if (blocks != ids) {
      throw line.error(
          "%d tokens are %d blocks of %d, but hash_ids has %d; say with --block-tokens how many tokens an id stands for"
              .formatted(length, blocks, blockTokens, ids));
    }
  }

  @Override
  public Workload finish() {
    List<String> notes =
        blocksPerPage == 1
            ? List.of()
            : List.of(blocksPerPage + " blocks of " + blockTokens + " tokens make a page");
    return new Workload(
        "request trace with block ids", blocksPerPage * blockTokens, requests.build(), notes);
  }
}
