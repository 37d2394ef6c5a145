package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.device.GpuMode;

/**
 * Cuts the attention of a step into tiles for the kernels of attention.cuh.
 *
 * <p>A tile is four integers: chunk, first packed row, first split of keys, number of splits.
 * Packed rows are rows times the heads of a group. Chunks with few packed rows use the kernel whose
 * warps split the keys; its tiles come first. Other chunks use the kernel whose warps split the
 * rows. If the tiles would leave the device idle, or one tile would take much longer than the
 * others, the keys of a chunk are cut into several tiles, with as few splits per tile as possible
 * while all tiles still run at once. These tiles write partial results, which the last block to
 * finish combines.
 *
 * <p>Latent attention has only the first kernel.
 *
 * <p>In deterministic mode a partial result covers one split, always of {@link #SPLIT_TOKENS}
 * tokens from position 0, so tiles do not change results. In fast mode it covers all splits of a
 * tile.
 *
 * <p>Reused from step to step, without allocation. Owned by the thread that submits.
 */
public final class AttentionPlanner {

  /** Keys per split. Part of the arithmetic: changing it changes the numerics epoch. */
  static final int SPLIT_TOKENS = 128;

  /** Integers per tile. */
  static final int TILE_INTS = 4;

  private static final int KEY_ROWS = 16;
  private static final int ROW_ROWS = 64;

  private final GpuMode mode;
  private final int group;
  private final int slots;
  private final boolean keysKernel;
  private final boolean latent;
  private final int splitTokens;
  private final int maxPartials;
  private final int[] tiles;
  private final int[] merge;
  private final int[] position;
  private final int[] rows;
  private int chunks;
  private int count;
  private int keyCount;
  private int partials;
  private int tileSplits;
  private int uncut;

  /**
   * The sizes for which memory is allocated.
   *
   * @param chunks chunks per step
   * @param tiles tiles per step, at least {@link #fewestTiles}
   * @param partials partial results per step
   */
  record Limits(int chunks, int tiles, int partials) {}

  /**
   * @param blocks number of attention blocks that the device runs at once
   * @param keysKernel whether the device has the shared memory for {@link
   *     AttentionShape#keysKernel()}; else the rows kernel computes everything, with the same
   *     results
   */
  AttentionPlanner(
      AttentionShape shape, GpuMode mode, int blocks, boolean keysKernel, Limits limits) {
    this(shape, mode, blocks, keysKernel, limits, SPLIT_TOKENS);
  }

  AttentionPlanner(
      AttentionShape shape,
      GpuMode mode,
      int blocks,
      boolean keysKernel,
      Limits limits,
      int splitTokens) {
    this.mode = mode;
    this.keysKernel = keysKernel;
    latent = shape.latent();
    this.splitTokens = splitTokens;
    maxPartials = limits.partials();
    group = shape.group();
    slots = Math.max(1, blocks / shape.kvHeads());
    tiles = new int[TILE_INTS * limits.tiles()];
    merge = new int[2 * limits.chunks()];
    position = new int[limits.chunks()];
    rows = new int[limits.chunks()];
  }

  /**
   * The number of tiles that is enough for every step of up to {@code maxRows} rows in up to {@code
   * maxRows} chunks.
   */
  static int fewestTiles(AttentionShape shape, int maxRows) {
    return maxRows + maxRows * shape.group() / (shape.latent() ? KEY_ROWS : ROW_ROWS);
  }

  /** Begins a step. */
  void begin() {
    chunks = 0;
    count = 0;
    keyCount = 0;
    partials = 0;
  }

  /**
   * Adds the next chunk.
   *
   * @param position the position of its first row
   * @param rows number of its rows, at least one
   */
  void add(int position, int rows) {
    this.position[chunks] = position;
    this.rows[chunks] = rows;
    chunks++;
  }

  /**
   * Makes the tiles of the chunks added since {@link #begin}.
   *
   * @throws IllegalArgumentException if there are more tiles than memory was allocated for
   */
  void plan() {
    uncut = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      uncut += rowTiles(chunk);
    }
    if (uncut * TILE_INTS > tiles.length) {
      throw new IllegalArgumentException(
          "a step needs " + uncut + " attention tiles; the limit is " + tiles.length / TILE_INTS);
    }
    tileSplits = splitsOfTile();
    cutChunks(true);
    keyCount = count;
    cutChunks(false);
  }

  /** Cuts long chunks first, so that little work is left at the end, while some blocks are idle. */
  private void cutChunks(boolean byKeys) {
    long splits = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      splits += splits(chunk);
    }
    for (int pass = 0; pass < 2; pass++) {
      for (int chunk = 0; chunk < chunks; chunk++) {
        boolean isLong = (long) splits(chunk) * chunks > splits;
        if (byKeys(chunk) == byKeys && isLong == (pass == 0)) {
          cut(chunk);
        }
      }
    }
  }

  private int splitsOfTile() {
    long work = 0;
    int longest = 1;
    for (int chunk = 0; chunk < chunks; chunk++) {
      work += (long) rowTiles(chunk) * splits(chunk);
      longest = Math.max(longest, splits(chunk));
    }
    if (uncut >= slots) {
      return (int) Math.min(longest, Math.max(1, (2 * work + slots - 1) / slots));
    }
    int least = 1;
    int enough = longest;
    while (least < enough) {
      int middle = (least + enough) >>> 1;
      if (tilesOf(middle) <= slots) {
        enough = middle;
      } else {
        least = middle + 1;
      }
    }
    return enough;
  }

  private long tilesOf(int splits) {
    long sum = 0;
    for (int chunk = 0; chunk < chunks; chunk++) {
      sum += (long) rowTiles(chunk) * ceil(splits(chunk), splits);
    }
    return sum;
  }

  private void cut(int chunk) {
    int packed = rows[chunk] * group;
    int tileRows = tileRows(chunk);
    int rowTiles = rowTiles(chunk);
    uncut -= rowTiles;
    int partialsOfRow = ceil(splits(chunk), foldedSplits());
    long cutTiles = (long) rowTiles * ceil(splits(chunk), tileSplits);
    boolean whole =
        splits(chunk) <= tileSplits
            || (count + cutTiles + uncut) * TILE_INTS > tiles.length
            || partials + (long) packed * partialsOfRow > maxPartials;
    for (int first = (rowTiles - 1) * tileRows; first >= 0; first -= tileRows) {
      int keys = position[chunk] + (Math.min(first + tileRows, packed) - 1) / group + 1;
      int splits = ceil(keys, splitTokens);
      int step = whole ? splits : tileSplits;
      for (int split = 0; split < splits; split += step) {
        tile(chunk, first, split, Math.min(step, splits - split));
      }
    }
    merge[2 * chunk] = whole ? -1 : partials;
    merge[2 * chunk + 1] = partialsOfRow;
    partials += whole ? 0 : packed * partialsOfRow;
  }

  private void tile(int chunk, int packedRow, int split, int splits) {
    int at = TILE_INTS * count++;
    tiles[at] = chunk;
    tiles[at + 1] = packedRow;
    tiles[at + 2] = split;
    tiles[at + 3] = splits;
  }

  private boolean byKeys(int chunk) {
    return latent || keysKernel && rows[chunk] * group <= KEY_ROWS;
  }

  private int tileRows(int chunk) {
    return byKeys(chunk) ? KEY_ROWS : ROW_ROWS;
  }

  private int rowTiles(int chunk) {
    return ceil(rows[chunk] * group, tileRows(chunk));
  }

  private int splits(int chunk) {
    return ceil(position[chunk] + rows[chunk], splitTokens);
  }

  private static int ceil(int count, int of) {
    return (count + of - 1) / of;
  }

  /** Returns whether decode steps use the kernel whose warps split the keys. */
  boolean decodesByKeys() {
    return latent || keysKernel && group <= KEY_ROWS;
  }

  /** Number of tiles of both kernels. */
  public int tiles() {
    return count;
  }

  /** Number of tiles of the kernel whose warps split the keys. They come first. */
  public int keyTiles() {
    return keyCount;
  }

  /** The tiles, {@link #TILE_INTS} integers each; only the first {@link #tiles()} are valid. */
  int[] tileInts() {
    return tiles;
  }

  /**
   * Two integers per chunk: the first partial result, or -1 for none, and the number of partial
   * results per packed row.
   */
  int[] mergeInts() {
    return merge;
  }

  /** Number of partial results of the step. */
  int partials() {
    return partials;
  }

  /** Keys per split. */
  int splitTokens() {
    return splitTokens;
  }

  /** Splits that are combined into one partial result. */
  int foldedSplits() {
    return mode == GpuMode.DETERMINISTIC ? 1 : tileSplits;
  }
}
