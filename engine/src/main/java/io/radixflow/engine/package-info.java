/**
 * The interface of the engine: {@link io.radixflow.engine.Engine}, its requests, options, channels
 * and statistics. The engine does continuous batching with chunked prefill over one backend, one
 * paged KV pool and one radix cache. It is a plain Java library.
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
 * <p>Subpackages: {@code request} has the state of a request, {@code schedule} decides which
 * request runs next, {@code pages} decides where keys and values are stored, {@code loop} has the
 * thread that runs steps.
 */
package io.radixflow.engine;
