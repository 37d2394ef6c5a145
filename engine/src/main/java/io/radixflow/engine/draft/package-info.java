/**
 * Lossless speculation without a draft model: what a reply may say next is guessed from texts that
 * it has a suffix in common with, and from what the radix cache has after its tokens. Several
 * guesses are verified in one step. A reply has the same bytes with and without it. {@link
 * io.radixflow.engine.draft.DraftPolicy} decides how many guesses pay.
 */
package io.radixflow.engine.draft;
