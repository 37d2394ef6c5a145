package io.radixflow.kernels.grammar;

import io.radixflow.kernels.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The bytes of a vocabulary's tokens as a trie in depth-first order. Special tokens are in it only
 * where they are asked for, tokens without bytes never. Immutable; made once for each tokenizer and
 * shared.
 */
public final class TokenTrie {
  private final int vocabSize;
  private final int[] endIds;
  private final boolean dropsLeadingSpace;
  private final byte[][] bytes;

  /**
   * Of each node in depth-first order, the root first: its byte, its depth, the node after its
   * subtree.
   */
  final byte[] value;

  final short[] depth;
  final int[] end;

  /** Tokens of node {@code n}: from {@code firstToken[n]} to before {@code firstToken[n + 1]}. */
  final int[] firstToken;

  final int[] tokens;
  final int maxDepth;

  private TokenTrie(byte[][] bytes, int[] endIds, boolean dropsLeadingSpace) {
    this.bytes = bytes;
    this.endIds = endIds;
    this.dropsLeadingSpace = dropsLeadingSpace;
    vocabSize = bytes.length;
    Integer[] order = order();
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
    tokens = new int[order.length];
    maxDepth = deepest;
    fill(order);
  }

  /**
   * The trie of a tokenizer; its end-of-turn ids are what a mask allows where a grammar may end.
   */
  public static TokenTrie of(Tokenizer tokenizer) {
    return of(tokenizer, Map.of());
  }

  /**
   * The trie of a tokenizer with some special tokens.
   *
   * @param markup special tokens that the text of a reply has, with their texts
   */
  public static TokenTrie of(Tokenizer tokenizer, Map<Integer, String> markup) {
    byte[][] bytes = new byte[tokenizer.vocabSize()][];
    for (int id = 0; id < bytes.length; id++) {
      bytes[id] = tokenizer.bytes(id);
    }
    markup.forEach(
        (id, text) -> {
          if (bytes[id].length == 0) {
            bytes[id] = text.getBytes(StandardCharsets.UTF_8);
          }
        });
    return new TokenTrie(bytes, tokenizer.endOfTurnIds(), tokenizer.dropsLeadingSpace());
  }

  /** The trie of a vocabulary; special tokens have no bytes. */
  public static TokenTrie of(List<byte[]> bytes, int... endIds) {
    return new TokenTrie(bytes.toArray(new byte[0][]), endIds.clone(), false);
  }

  private Integer[] order() {
    List<Integer> ids = new ArrayList<>();
    for (int id = 0; id < vocabSize; id++) {
      if (bytes[id].length > 0 && bytes[id].length < Short.MAX_VALUE && !ends(id)) {
        ids.add(id);
      }
    }
    ids.sort((a, b) -> Arrays.compareUnsigned(bytes[a], bytes[b]));
    return ids.toArray(new Integer[0]);
  }

  private static int common(byte[] a, byte[] b) {
    int at = Arrays.mismatch(a, b);
    return at < 0 ? a.length : at;
  }

  private void fill(Integer[] order) {
    int[] path = new int[maxDepth + 1];
    int nodes = 1;
    int level = 0;
    for (int token = 0; token < order.length; token++) {
      byte[] text = bytes[order[token]];
      int shared = token == 0 ? 0 : common(bytes[order[token - 1]], text);
      for (; level > shared; level--) {
        end[path[level]] = nodes;
      }
      for (; level < text.length; nodes++) {
        value[nodes] = text[level++];
        depth[nodes] = (short) level;
        firstToken[nodes] = token;
        path[level] = nodes;
      }
      tokens[token] = order[token];
    }
    for (; level >= 0; level--) {
      end[path[level]] = nodes;
    }
    firstToken[nodes] = order.length;
  }

  public int vocabSize() {
    return vocabSize;
  }

  int[] endIds() {
    return endIds;
  }

  boolean ends(int id) {
    for (int end : endIds) {
      if (end == id) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether one leading space of a reply is no part of its text. */
  boolean dropsLeadingSpace() {
    return dropsLeadingSpace;
  }

  byte[] bytes(int id) {
    return bytes[id];
  }
}
