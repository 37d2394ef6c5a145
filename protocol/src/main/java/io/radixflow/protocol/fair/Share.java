package io.radixflow.protocol.fair;

/**
 * A tenant's share of a resource that tenants share: its weight, and its service so far. {@link
 * Shares} changes it.
 */
public class Share implements Comparable<Share> {
  public final String name;
  public final int weight;

  /** Service so far, divided by the weight; comparable among tenants. */
  public long service;

  /**
   * Number of the event at which work of the tenant last started, or at which the tenant started to
   * wait.
   */
  private long lastEvent;

  protected Share(String name, int weight) {
    this.name = name;
    this.weight = weight;
  }

  void event(long number) {
    lastEvent = number;
  }

  /** Compares by service, the least first, then by the longest wait. */
  @Override
  public int compareTo(Share other) {
    return service != other.service
        ? Long.compare(service, other.service)
        : Long.compare(lastEvent, other.lastEvent);
  }
}
