package io.radixflow.operators.flink.erasure;

import io.radixflow.engine.Engine;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import java.util.HashMap;
import java.util.Map;

/**
 * The tenants whose pages may still exist. A tenant loses its keys first, then its sessions, then
 * its pages. Only the task's thread uses this.
 */
final class TenantErasures {
  private final Engine engine;
  private final TenantKeyState keys;
  private final PageErasures pages;
  private final ErasureTasks tasks;
  private final Map<String, Tenant> tenants = new HashMap<>();

  /**
   * A tenant whose pages may still exist.
   *
   * @param number number of the control event
   * @param passed whether the sessions of this subtask are erased
   */
  private record Tenant(long number, boolean passed) {}

  TenantErasures(Engine engine, TenantKeyState keys, PageErasures pages, ErasureTasks tasks) {
    this.engine = engine;
    this.keys = keys;
    this.pages = pages;
    this.tasks = tasks;
  }

  /**
   * Makes a tenant's pages unreadable; the caller must then erase the tenant's sessions.
   *
   * @param number number of the control event
   */
  void erase(String tenant, long number) {
    keys.delete(tenant);
    tenants.merge(tenant, new Tenant(number, false), (a, b) -> a.number > b.number ? a : b);
  }

  /**
   * Returns whether a session belongs to a tenant that is being erased, but is not erased itself.
   */
  boolean covers(SessionSlot slot) {
    if (tenants.isEmpty() || !slot.opened() || slot.life() == Life.ERASED) {
      return false;
    }
    Tenant erased = tenants.get(slot.tenant());
    return erased != null && slot.erasures() < erased.number;
  }

  /**
   * Returns the tenants whose sessions must be erased, with the numbers of their control events; a
   * copy.
   */
  Map<String, Long> toPass() {
    Map<String, Long> left = new HashMap<>();
    tenants.forEach(
        (name, tenant) -> {
          if (!tenant.passed) {
            left.put(name, tenant.number);
          }
        });
    return left;
  }

  /**
   * Called when all sessions of a tenant are erased; erases its pages, unless the tenant has a
   * later erasure.
   */
  void passed(String tenant, long number) {
    if (tenants.replace(tenant, new Tenant(number, false), new Tenant(number, true))) {
      keys.delete(tenant);
      erasePages(tenant, number);
    }
  }

  private void erasePages(String tenant, long number) {
    tasks.whenErased(
        engine.eraseTenant(tenant),
        everywhere -> {
          pages.eraseKeys(keys.deleted(tenant));
          if (everywhere) {
            tenants.remove(tenant, new Tenant(number, true));
          }
        });
  }

  /** Starts again to erase the pages of tenants whose sessions are erased. */
  void retry() {
    tenants.forEach(
        (name, tenant) -> {
          if (tenant.passed) {
            erasePages(name, tenant.number);
          }
        });
  }

  int count() {
    return tenants.size();
  }

  /** Returns the number of each tenant's control event. */
  Map<String, Long> pending() {
    Map<String, Long> numbers = new HashMap<>();
    tenants.forEach((name, tenant) -> numbers.put(name, tenant.number));
    return numbers;
  }
}
