package io.radixflow.grammar;

import io.radixflow.grammar.regex.CharacterGroups;
import java.util.Arrays;

/**
 * The bytes of some tokens as a trie, its nodes in depth-first order, the root first. Immutable.
 */
final class TokenTree {
  /** The byte of each node. */
  final byte[] value;

  /** The depth of each node. */
  final short[] depth;

  /** The node after the subtree of each node. */
  final int[] end;

  /** Tokens of node {@code n}: from {@code firstToken[n]} to before {@code firstToken[n + 1]}. */
  final int[] firstToken;

  final int[] tokens;
  final int maxDepth;

  /** Groups of the characters below a node, and the largest number of them in one token. */
  private final long[] groupsBelow;

  private final short[] charactersBelow;

  /**
   * @param bytes bytes of each token of the vocabulary
   * @param order ids of the tokens in the trie, in the order of their bytes
   */
  TokenTree(byte[][] bytes, int[] order) {
    int nodes = 1;
    int deepest = 0;
    byte[] previous = {};
    for (int id : order) {
      nodes += bytes[id].length - common(previous, bytes[id]);
      deepest = Math.max(deepest, bytes[id].length);
      previous = bytes[id];
    }
    value = new byte[nodes];
    depth = new short[nodes];
    end = new int[nodes];
    firstToken = new int[nodes + 1];
    groupsBelow = new long[nodes];
    charactersBelow = new short[nodes];
    tokens = order;
    maxDepth = deepest;
    fill(bytes);
    for (int node = nodes - 1; node >= 0; node--) {
      summarize(node, node, 0, 0);
    }
  }

  private static int common(byte[] a, byte[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  private void fill(byte[][] bytes) {
    int[] path = new int[maxDepth + 1];
    int nodes = 1;
    int level = 0;
    for (int token = 0; token < tokens.length; token++) {
      byte[] text = bytes[tokens[token]];
      int shared = token == 0 ? 0 : common(bytes[tokens[token - 1]], text);
      for (; level > shared; level--) {
        end[path[level]] = nodes;
      }
      for (; level < text.length; nodes++) {
        value[nodes] = text[level++];
        depth[nodes] = (short) level;
        firstToken[nodes] = token;
        path[level] = nodes;
      }
    }
    for (; level >= 0; level--) {
      end[path[level]] = nodes;
    }
    firstToken[nodes] = tokens.length;
  }

  /**
   * Adds the characters of a node's subtree to the node; the nodes of the subtree are already done.
   *
   * @param at a node within a character that begins below {@code node}
   * @param first the character's first byte
   * @param missing bytes of the character after {@code at}; 0 if {@code at} is {@code node}
   */
  private void summarize(int node, int at, int first, int missing) {
    for (int child = at + 1; child < end[at]; child = end[child]) {
      int next = value[child] & 0xFF;
      int length = missing == 0 ? CharacterGroups.length(next) : missing;
      boolean begins = missing == 0;
      boolean second = !begins && missing == CharacterGroups.length(first) - 1;
      boolean valid =
          begins
              ? length > 0
              : (second ? CharacterGroups.mayFollow(first, next) : (next & 0xC0) == 0x80);
      if (!valid || length > 1 && firstToken[child + 1] > firstToken[child]) {
        groupsBelow[node] |= CharacterGroups.BROKEN;
      }
      if (!valid) {
        continue;
      }
      if (length > 1) {
        summarize(node, child, begins ? next : first, length - 1);
        continue;
      }
      int total = begins ? 1 : CharacterGroups.length(first);
      groupsBelow[node] |=
          groupsBelow[child]
              | (total == 1 ? CharacterGroups.ofAscii(next) : CharacterGroups.ofLength(total));
      charactersBelow[node] = (short) Math.max(charactersBelow[node], charactersBelow[child] + 1);
    }
  }

  boolean isLeaf(int node) {
    return end[node] == node + 1;
  }

  /** Returns the groups of the characters that tokens have after a node. */
  long groupsBelow(int node) {
    return groupsBelow[node];
  }

  /** Returns the most characters that a token has after a node. */
  int charactersBelow(int node) {
    return charactersBelow[node];
  }

  /** Sets the bits of the tokens from node {@code from} to before node {@code to}. */
  void mark(int from, int to, long[] mask) {
    int last = firstToken[to];
    for (int token = firstToken[from]; token < last; token++) {
      int id = tokens[token];
      mask[id >> 6] |= 1L << id;
    }
  }
}
