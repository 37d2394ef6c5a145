package io.radixflow.lab.hitrates;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;

/** Hit rates as JSON; rates are shares of 1. */
final class HitRateJson {
  private HitRateJson() {}

  static ObjectNode of(Workload workload, HitRates rates) {
    ObjectNode json = about(workload, rates);
    ArrayNode rows = json.putArray("capacities");
    rates.rows().forEach(row -> put(rows.addObject(), workload, rates, row));
    return json;
  }

  static ObjectNode of(Workload workload, TierRates rates) {
    ObjectNode json = about(workload, rates);
    ObjectNode sizes = json.putObject("tier_pages");
    sizes.put("device", rates.devicePages());
    sizes.put("host", rates.hostPages());
    sizes.put("disk", rates.diskPages());
    ObjectNode policies = json.putObject("policies");
    for (TierRates.Row row : rates.rows()) {
      ObjectNode policy = policies.putObject(row.policy());
      policy.put("hit_rate", rates.percent(row.all()) / 100);
      policy.put("device_hit_pages", row.device());
      policy.put("host_hit_pages", row.host());
      policy.put("disk_hit_pages", row.disk());
    }
    return json;
  }

  static ObjectNode of(Workload workload, WindowRates rates) {
    ObjectNode json = about(workload, rates);
    ArrayNode rows = json.putArray("capacities");
    for (WindowRates.Row row : rates.rows()) {
      ObjectNode one = rows.addObject();
      one.put("pages_of_all_layers", row.capacity());
      one.put("full_hit_rate", rates.percent(row.full()) / 100);
      ArrayNode shares = one.putArray("window_shares");
      for (int i = 0; i < rates.shares().size(); i++) {
        WindowRates.Cell cell = row.windows().get(i);
        ObjectNode share = shares.addObject().put("share", rates.shares().get(i));
        share.put("pages", cell.pages()).put("hit_rate", rates.percent(cell.hits()) / 100);
      }
    }
    return json;
  }

  private static ObjectNode about(Workload workload, Rates rates) {
    ObjectNode json = JsonLineOutput.object();
    CacheWorkload requests = workload.requests();
    ObjectNode about = json.putObject("workload");
    about.put("format", workload.format());
    about.put("requests", requests.requests());
    about.put("page_tokens", workload.pageTokens());
    about.put("prompt_pages", requests.inputBlocks());
    about.put("distinct_pages", requests.distinctBlocks());
    ArrayNode notes = about.putArray("notes");
    workload.notes().forEach(notes::add);
    json.put("unlimited_hit_rate", rates.percent(rates.unlimited()) / 100);
    return json;
  }

  private static void put(ObjectNode json, Workload workload, HitRates rates, HitRates.Row row) {
    json.put("pages", row.capacity());
    json.put("tokens", (long) row.capacity() * workload.pageTokens());
    ObjectNode policies = json.putObject("policies");
    for (int i = 0; i < rates.policies().size(); i++) {
      CacheSimulation.Result result = row.results().get(i);
      ObjectNode policy = policies.putObject(rates.policies().get(i));
      policy.put("hit_rate", rates.percent(result.hits()) / 100);
      policy.put("hit_pages", result.hits());
      policy.put("evicted_pages", result.evicted());
      policy.put("freed_pages", result.freed());
    }
    ObjectNode bound = json.putObject("bound");
    bound.put("hit_rate", rates.percent(row.bound()) / 100);
    bound.put("hit_pages", row.bound());
  }
}
