package io.radixflow.engine.cache;

/**
 * The part of a key that the tree contains, as a position in the tree. It is valid until the tree
 * changes.
 *
 * @param node the deepest node reached; if nothing matched, the namespace's root, or null if the
 *     namespace has no root
 * @param offset number of pages of {@code node} that matched
 * @param pages number of pages that matched in total
 */
public record PrefixMatch(TreeNode node, int offset, int pages) {}
