/**
 * The engine as others use it: {@link io.radixflow.operators.engine.Engine}, its requests, options,
 * channels and figures. The engine does continuous batching with chunked prefill over one backend,
 * one paged KV pool and one radix cache. A plain Java library.
 *
 * <pre>
 *   submit ─▶ Intake (threads) ─▶ inbox ─▶ EngineLoop (one thread)
 *                                            Scheduler     who runs, which rows
 *                                            Admission     which waiting request is next
 *                                            KvPages       pages, radix cache, tiers below
 *                                            StepPipeline  steps in flight, failed steps
 *                                            Replies       tokens to text, ends of replies
 *                                            Grammars      masks of replies (threads)
 *   drain  ◀─ EngineChannel ◀─ ReplyRing ◀───┘
 * </pre>
 *
 * <p>The packages below: {@code request} what a request is, {@code schedule} who runs next, {@code
 * pages} where keys and values lie, {@code loop} the thread that runs steps.
 */
package io.radixflow.operators.engine;
