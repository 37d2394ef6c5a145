/**
 * The engine: continuous batching with chunked prefill over one backend, one paged KV pool and one
 * radix cache. A plain Java library.
 *
 * <pre>
 *   submit ─▶ Intake (threads) ─▶ inbox ─▶ EngineLoop (one thread)
 *                                            Scheduler     who runs, which rows
 *                                            Admission     who of the waiting is next
 *                                            KvPages       their pages and the radix cache
 *                                            StepPipeline  steps in flight, failed steps
 *                                            Replies       tokens to text, endings
 *   drain  ◀─ EngineChannel ◀─ ReplyRing ◀───┘
 * </pre>
 */
package io.radixflow.operators.engine;
