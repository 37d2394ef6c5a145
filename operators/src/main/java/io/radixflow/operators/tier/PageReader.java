package io.radixflow.operators.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Reads pages and verifies them. Pages that lie one after the other in a segment are read at once.
 * Safe for several threads.
 */
final class PageReader {

  /** What was asked for; see {@link PageStore#read}. */
  record Request(
      PageId[] chain, String[] namespaces, PageDirectory.Entry[] entries, ByteBuffer[] into) {}

  /** Pages {@code from .. to-1} of a request, which lie one after the other. */
  record Run(int from, int to) {}

  /**
   * What became of a run.
   *
   * @param read how many of its pages were read, up to the first that was not
   * @param miss why that was not; null if all were
   * @param whole whether that one's header was right, so that it lies where the directory says
   */
  record Outcome(int read, MissReason miss, boolean whole) {}

  private static final int CHUNK = 4 << 20;

  private final SegmentLog log;
  private final PageVerifier verifier;
  private final int chunk;
  private final ConcurrentLinkedQueue<ByteBuffer> chunks = new ConcurrentLinkedQueue<>();

  PageReader(SegmentLog log, PageVerifier verifier, long segmentBytes) {
    this.log = log;
    this.verifier = verifier;
    int largest = verifier.largestRecord();
    this.chunk = (int) Math.max(Math.min(CHUNK, segmentBytes), largest);
  }

  /** The runs that pages {@code from .. to-1} are read in. */
  List<Run> runs(PageDirectory.Entry[] entries, int from, int to) {
    List<Run> runs = new ArrayList<>();
    int start = from;
    long bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += entries[i].length();
      boolean last =
          i + 1 == to
              || entries[i + 1].segment() != entries[i].segment()
              || entries[i + 1].offset() != entries[i].offset() + entries[i].length()
              || bytes + entries[i + 1].length() > chunk;
      if (last) {
        runs.add(new Run(start, i + 1));
        start = i + 1;
        bytes = 0;
      }
    }
    return runs;
  }

  Outcome read(Request request, Run run) {
    PageDirectory.Entry first = request.entries()[run.from()];
    PageDirectory.Entry last = request.entries()[run.to() - 1];
    long bytes = last.offset() + last.length() - first.offset();
    if (bytes > chunk || first.length() < RecordHeader.BYTES || first.offset() < 0) {
      return new Outcome(0, MissReason.DIGEST, false);
    }
    Segment segment = log.get(first.segment());
    ByteBuffer buffer = take();
    try {
      SegmentFile file = segment == null ? null : segment.acquire();
      if (file == null) {
        return new Outcome(0, MissReason.FILE_GONE, false);
      }
      try {
        file.read(buffer.limit((int) bytes), first.offset());
      } finally {
        segment.release();
      }
      return verify(request, run, segment, buffer.flip());
    } catch (SegmentMissException e) {
      return new Outcome(0, e.reason(), false);
    } catch (IOException e) {
      return new Outcome(0, MissReason.IO, false);
    } finally {
      chunks.add(buffer);
    }
  }

  private ByteBuffer take() {
    ByteBuffer free = chunks.poll();
    return free == null ? ByteBuffer.allocateDirect(chunk) : free.clear();
  }

  private Outcome verify(Request request, Run run, Segment segment, ByteBuffer buffer) {
    long base = request.entries()[run.from()].offset();
    for (int i = run.from(); i < run.to(); i++) {
      PageDirectory.Entry entry = request.entries()[i];
      int at = (int) (entry.offset() - base);
      if (at + entry.length() > buffer.limit()) {
        return new Outcome(i - run.from(), MissReason.TRUNCATED, false);
      }
      RecordHeader header = RecordHeader.decode(buffer, at);
      boolean whole = header != null && header.page() != null && lies(header, entry, segment);
      MissReason miss = verifier.header(header, request.chain(), i, request.namespaces()[i]);
      if (miss == null) {
        miss = whole ? verifier.body(header, buffer, at, request.into()[i]) : MissReason.DIGEST;
      }
      if (miss != null) {
        return new Outcome(i - run.from(), miss, whole);
      }
    }
    return new Outcome(run.to() - run.from(), null, true);
  }

  private static boolean lies(RecordHeader header, PageDirectory.Entry entry, Segment segment) {
    return header.stamp() == segment.stamp()
        && header.offset() == entry.offset()
        && header.recordBytes() == entry.length()
        && header.page().id().equals(entry.page().id());
  }
}
