package io.radixflow.lab.replay.sglang;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/** A run of units and their slots. */
public final class CompatNode extends CompatUse {
  final Map<CompatKey, CompatNode> children = new HashMap<>();

  CompatNode parent;
  CompatKey key;
  int[] slots;
  int lockCount;

  /**
   * @param now becomes the time of creation and of the last access
   */
  CompatNode(CompatNode parent, CompatKey key, int[] slots, int priority, long now) {
    super(now, priority);
    this.parent = parent;
    this.key = key;
    this.slots = slots;
  }

  boolean isRoot() {
    return parent == null;
  }

  int length() {
    return slots.length;
  }

  void addChild(CompatNode child, int pageUnits) {
    children.put(child.key.firstPage(pageUnits), child);
    child.parent = this;
  }

  void removeChild(CompatNode child, int pageUnits) {
    children.remove(child.key.firstPage(pageUnits));
  }

  /**
   * Splits this node: a new parent takes its first units, its counts, its locks and its priority,
   * but is created now.
   */
  CompatNode split(int units, int pageUnits, long now) {
    CompatNode front =
        new CompatNode(parent, key.slice(0, units), Arrays.copyOf(slots, units), priority, now);
    front.hitCount = hitCount;
    front.lockCount = lockCount;
    parent.addChild(front, pageUnits);
    key = key.from(units);
    slots = Arrays.copyOfRange(slots, units, slots.length);
    front.addChild(this, pageUnits);
    return front;
  }
}
