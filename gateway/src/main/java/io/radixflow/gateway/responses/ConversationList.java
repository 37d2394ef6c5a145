package io.radixflow.gateway.responses;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.gateway.http.Json;
import io.radixflow.gateway.topics.LogPace;
import io.radixflow.gateway.topics.Topics;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The conversations of all tenants, as the conversation index has them: the most recently updated
 * ones, within two limits. Other sessions are left out, because no endpoint of conversations finds
 * them. Thread-safe.
 */
public final class ConversationList implements Topics.IndexReader {

  private static final Logger LOG = LoggerFactory.getLogger(ConversationList.class);

  private static final Comparator<ConversationEntry> OLDEST_FIRST =
      Comparator.comparingLong(ConversationEntry::updated)
          .thenComparing(ConversationEntry::session)
          .thenComparing(ConversationEntry::tenant);

  private final LogPace unreadable = new LogPace();
  private final int perTenant;
  private final int total;
  private final Map<String, Tenant> tenants = new HashMap<>();
  private final TreeSet<ConversationEntry> all = new TreeSet<>(OLDEST_FIRST);

  /** The conversations of a tenant, twice: by id, and by the time of their update. */
  private record Tenant(Map<String, ConversationEntry> byId, TreeSet<ConversationEntry> byUpdate) {}

  /** Creates an empty list. It holds 10,000 conversations of a tenant, and 100,000 in all. */
  public ConversationList() {
    this(10_000, 100_000);
  }

  ConversationList(int perTenant, int total) {
    this.perTenant = perTenant;
    this.total = total;
  }

  @Override
  public synchronized void begin() {
    tenants.clear();
    all.clear();
  }

  @Override
  public void entry(byte[] key, byte[] value) {
    try {
      ConversationEntry entry = RecordReader.conversation(key, value);
      if (ResponseIds.isConversation(entry.session())) {
        replace(entry);
      }
    } catch (IOException e) {
      long count = unreadable.due();
      if (count > 0) {
        LOG.warn("{} records of the conversation index cannot be read; the last", count, e);
      }
    }
  }

  private synchronized void replace(ConversationEntry entry) {
    Tenant tenant = tenants.get(entry.tenant());
    if (tenant != null && tenant.byId.containsKey(entry.session())) {
      remove(tenant.byId.get(entry.session()));
    }
    if (entry.title() == null) {
      return;
    }
    tenant =
        tenants.computeIfAbsent(
            entry.tenant(), name -> new Tenant(new HashMap<>(), new TreeSet<>(OLDEST_FIRST)));
    tenant.byId.put(entry.session(), entry);
    tenant.byUpdate.add(entry);
    all.add(entry);
    if (tenant.byUpdate.size() > perTenant) {
      remove(tenant.byUpdate.first());
    }
    if (all.size() > total) {
      remove(all.first());
    }
  }

  private void remove(ConversationEntry entry) {
    Tenant tenant = tenants.get(entry.tenant());
    tenant.byId.remove(entry.session());
    tenant.byUpdate.remove(entry);
    all.remove(entry);
    if (tenant.byId.isEmpty()) {
      tenants.remove(entry.tenant());
    }
  }

  /**
   * Writes a page of a tenant's conversations, in the order of their updates.
   *
   * @param search a text that title or id must contain, in any case; null for all conversations
   */
  ObjectNode page(String tenant, String search, ItemPage page) {
    List<ConversationEntry> found = of(tenant);
    if (search != null) {
      String wanted = search.toLowerCase(Locale.ROOT);
      found.removeIf(
          entry ->
              !entry.title().toLowerCase(Locale.ROOT).contains(wanted)
                  && !entry.session().contains(wanted));
    }
    return page.of(found, ConversationEntry::session, ConversationList::json);
  }

  private synchronized List<ConversationEntry> of(String tenant) {
    Tenant known = tenants.get(tenant);
    return known == null ? new ArrayList<>() : new ArrayList<>(known.byUpdate);
  }

  private static ObjectNode json(ConversationEntry entry) {
    return Json.object()
        .put("id", entry.session())
        .put("object", "conversation")
        .put("created_at", ResponseIds.createdAt(entry.session()))
        .put("updated_at", entry.updated() / 1000)
        .put("title", entry.title())
        .put("turns", entry.turns());
  }
}
