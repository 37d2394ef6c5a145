package io.radixflow.engine.cache;

/**
 * How far the tree has a key: a position in the tree, valid until the next operation that changes
 * it.
 *
 * @param node the deepest node reached; the namespace's root, or null where there is none, if
 *     nothing matched
 * @param offset pages of that node that matched
 * @param pages pages that matched in all
 */
public record PrefixMatch(TreeNode node, int offset, int pages) {}
