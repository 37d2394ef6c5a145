package io.radixflow.lab.hitrates;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.Locale;

/** Hits of a workload; rates are shares of its prompts' blocks. */
interface Rates {
  /** Returns the number of blocks of all prompts. */
  long inputBlocks();

  /** Returns the hits of an unlimited cache. */
  long unlimited();

  /** Prints the rates as lines of a table, in percent. */
  void printRows(Workload workload, PrintWriter out);

  /** Adds the rates, as shares of 1. */
  void putRows(Workload workload, ObjectNode json);

  /** Returns a count of hits as a percentage of all blocks; 0 for a workload without blocks. */
  default double percent(long hits) {
    return inputBlocks() == 0 ? 0 : 100.0 * hits / inputBlocks();
  }

  default void print(Workload workload, PrintWriter out) {
    CacheWorkload requests = workload.requests();
    out.printf(
        Locale.ROOT,
        "%s: %,d requests; %,d pages of %,d tokens in their prompts, %,d different pages in all%n",
        workload.format(),
        requests.requests(),
        requests.inputBlocks(),
        workload.pageTokens(),
        requests.distinctBlocks());
    workload.notes().forEach(note -> out.println("note: " + note));
    printRows(workload, out);
    out.flush();
  }

  default ObjectNode json(Workload workload) {
    CacheWorkload requests = workload.requests();
    ObjectNode json = JsonLineOutput.object();
    ObjectNode about = json.putObject("workload");
    about.put("format", workload.format());
    about.put("requests", requests.requests());
    about.put("page_tokens", workload.pageTokens());
    about.put("prompt_pages", requests.inputBlocks());
    about.put("distinct_pages", requests.distinctBlocks());
    ArrayNode notes = about.putArray("notes");
    workload.notes().forEach(notes::add);
    json.put("unlimited_hit_rate", percent(unlimited()) / 100);
    putRows(workload, json);
    return json;
  }
}
