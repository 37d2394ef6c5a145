package io.radixflow.kernels.cuda.step;

/**
 * Where each part of a step's metadata is in one buffer of 32-bit integers. The offsets depend only
 * on capacities, so that a captured graph stays valid from step to step. Offsets count integers.
 *
 * <pre>
 *   header[16]
 *   rowToken[maxRows]        input token; below 0: −1 − index in the ring of sampled tokens
 *   rowPosition[maxRows]     position in its sequence
 *   rowSlot[maxRows]         page · pageTokens + slot that keys and values go to
 *   rowPartSlot[maxRows]     the same with its window part instead of the page
 *   chunkFirstRow[maxChunks + 1]
 *   chunkPosition[maxChunks] position of the chunk's first row
 *   chunkPageStart[maxChunks + 1]  first entry of the chunk's page table in pageIds
 *   chunkPartStart[maxChunks]      where the chunk's table of window parts would begin in pageIds
 *   outputRow[maxOutputs]    row that an output belongs to
 *   sampling[maxOutputs][{@link #SAMPLING_INTS}]   see {@link SamplingRecord}
 *   plans[shapes]            for each shape of attention, see {@link AttentionPlanner}
 *     header[4]
 *     tiles[maxTiles][4]       attention work
 *     merge[maxChunks][2]      where a chunk's partial results lie
 *   tail[tailInts]           page tables (pageIds), then adjustments of logits, then token masks,
 *                            then tables of window parts
 * </pre>
 *
 * @param maxRows rows of one step, padding included; chunks and outputs have the same bound
 * @param maxTiles attention tiles of one step and shape
 * @param shapes different shapes of attention
 * @param tailInts integers for page tables, adjustments, token masks and tables of window parts
 *     together
 */
public record StepLayout(int maxRows, int maxTiles, int shapes, int tailInts) {

  /** Header entry: number of valid rows. */
  static final int ROWS = 0;

  /** Header entry: number of chunks. */
  static final int CHUNKS = 1;

  /** Header entry: number of outputs. */
  static final int OUTPUTS = 2;

  /** Header entry: index in the ring of sampled tokens for output 0 of this step. */
  static final int RING = 4;

  /** Header entry: integers from the start of the buffer to the first adjustment. */
  static final int ADJUSTMENTS = 5;

  /** Header entry: number of rows, including padding. */
  static final int PADDED_ROWS = 6;

  /** First of {@link #OUTPUT_BLOCKS} header entries: the number of outputs in each block. */
  static final int BLOCK_OUTPUTS = 11;

  /** Number of blocks in which a step's outputs are computed, one after another. */
  static final int OUTPUT_BLOCKS = 4;

  /** Integers of the header. */
  static final int HEADER_INTS = 16;

  /** Entry of a plan's header: number of tiles. */
  static final int TILES = 0;

  /** Entry of a plan's header: number of tiles of the kernel whose warps split the keys. */
  static final int KEY_TILES = 1;

  /** Entry of a plan's header: keys per split. */
  static final int SPLIT_TOKENS = 2;

  /** Entry of a plan's header: splits that are combined into one partial result. */
  static final int FOLDED_SPLITS = 3;

  /** Integers of a plan's header. */
  private static final int PLAN_INTS = 4;

  /** Integers of one output's sampling parameters. */
  static final int SAMPLING_INTS = SamplingRecord.INTS;

  /** Outputs whose logits exist at the same time. */
  public int blockOutputs() {
    return (maxRows + OUTPUT_BLOCKS - 1) / OUTPUT_BLOCKS;
  }

  int rowToken() {
    return HEADER_INTS;
  }

  int rowPosition() {
    return rowToken() + maxRows;
  }

  int rowSlot() {
    return rowPosition() + maxRows;
  }

  int rowPartSlot() {
    return rowSlot() + maxRows;
  }

  int chunkFirstRow() {
    return rowPartSlot() + maxRows;
  }

  int chunkPosition() {
    return chunkFirstRow() + maxRows + 1;
  }

  int chunkPageStart() {
    return chunkPosition() + maxRows;
  }

  int chunkPartStart() {
    return chunkPageStart() + maxRows + 1;
  }

  int outputRow() {
    return chunkPartStart() + maxRows;
  }

  /** Aligned to 8 bytes, because records contain doubles and longs. */
  int sampling() {
    return aligned(outputRow() + maxRows);
  }

  /** The plan of a shape. Aligned to 16 bytes, because a tile is read with one load. */
  int plan(int shape) {
    int bytes = aligned(PLAN_INTS + AttentionPlanner.TILE_INTS * maxTiles + 2 * maxRows);
    return aligned(sampling() + SAMPLING_INTS * maxRows) + shape * bytes;
  }

  int tiles(int shape) {
    return plan(shape) + PLAN_INTS;
  }

  int merge(int shape) {
    return tiles(shape) + AttentionPlanner.TILE_INTS * maxTiles;
  }

  /** The offset of the page tables. */
  int tail() {
    return plan(shapes);
  }

  /** Integers of the whole buffer. */
  public int ints() {
    return tail() + tailInts;
  }

  private static int aligned(int offset) {
    return offset + 3 & -4;
  }
}
