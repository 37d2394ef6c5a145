/**
 * Lossless speculation without a draft model. The next tokens of a reply are guessed from texts
 * that contain its last tokens, and from the radix cache. One step verifies several guesses. A
 * reply has the same bytes with and without speculation. {@link
 * io.radixflow.engine.draft.DraftPolicy} decides how many guesses pay.
 */
package io.radixflow.engine.draft;
