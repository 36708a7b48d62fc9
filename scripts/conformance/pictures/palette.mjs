// Makes a screenshot small: a PNG with a palette of 256 colours. What is read are the PNGs of Chromium: eight bits for
// each of three or four channels, not interlaced.

import assert from 'node:assert/strict';
import zlib from 'node:zlib';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS = 256;
const CHANNELS = { 2: 3, 6: 4 };

export function reduceColours(png) {
    const { width, height, pixels } = readPng(png);
    const palette = choosePalette(pixels);
    const rows = Buffer.alloc((width + 1) * height);
    const places = new Map();
    for (let at = 0; at < pixels.length; at += 1) {
        const colour = pixels[at];
        let place = places.get(colour);
        if (place === undefined) {
            place = nearest(palette, colour);
            places.set(colour, place);
        }
        // Each row begins with its filter, which is none.
        rows[at + Math.floor(at / width) + 1] = place;
    }
    const header = Buffer.alloc(13);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header.set([8, 3, 0, 0, 0], 8);
    const colours = Buffer.from(palette.flatMap(channelsOf));
    const data = zlib.deflateSync(rows, { level: 9, memLevel: 9 });
    return Buffer.concat([
        SIGNATURE, chunk('IHDR', header), chunk('PLTE', colours), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0)),
    ]);
}

// The pixels as numbers 0xRRGGBB (PNG, sections 5 and 9).
function readPng(png) {
    assert.ok(png.subarray(0, 8).equals(SIGNATURE), 'not a PNG');
    const parts = [];
    let header;
    for (let at = 8; at < png.length;) {
        const length = png.readUInt32BE(at);
        const type = png.toString('latin1', at + 4, at + 8);
        const body = png.subarray(at + 8, at + 8 + length);
        if (type === 'IHDR') {
            header = body;
        } else if (type === 'IDAT') {
            parts.push(body);
        }
        at += length + 12;
    }
    const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
    const [depth, kind, , , interlaced] = header.subarray(8);
    const channels = CHANNELS[kind];
    assert.ok(depth === 8 && channels && !interlaced, 'not a screenshot of Chromium');
    const rows = zlib.inflateSync(Buffer.concat(parts));
    const stride = width * channels;
    let above = Buffer.alloc(stride);
    const pixels = new Uint32Array(width * height);
    for (let y = 0; y < height; y += 1) {
        const begin = y * (stride + 1);
        const row = rows.subarray(begin + 1, begin + 1 + stride);
        unfilter(rows[begin], row, above, channels);
        for (let x = 0; x < width; x += 1) {
            pixels[y * width + x] = row.readUIntBE(x * channels, 3);
        }
        above = row;
    }
    return { width, height, pixels };
}

function unfilter(filter, row, above, channels) {
    for (let at = 0; at < row.length; at += 1) {
        const left = at < channels ? 0 : row[at - channels];
        const corner = at < channels ? 0 : above[at - channels];
        row[at] += expected(filter, left, above[at], corner);
    }
}

// What a filter takes away from a byte, from those before it.
function expected(filter, left, above, corner) {
    switch (filter) {
    case 0: return 0;
    case 1: return left;
    case 2: return above;
    case 3: return (left + above) >> 1;
    case 4: return paeth(left, above, corner);
    default: throw new Error(`the filter ${filter}`);
    }
}

function paeth(left, above, corner) {
    const guess = left + above - corner;
    const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)];
    if (a <= b && a <= c) {
        return left;
    }
    return b <= c ? above : corner;
}

// Each colour is the most frequent one of its surroundings; the surroundings are as small as the palette allows.
function choosePalette(pixels) {
    const counts = new Map();
    for (const colour of pixels) {
        counts.set(colour, (counts.get(colour) ?? 0) + 1);
    }
    const frequent = [...counts.entries()].sort((a, b) => b[1] - a[1]);
    for (let apart = 0; ; apart += 4) {
        const palette = [];
        for (const [colour] of frequent) {
            if (palette.length > COLOURS) {
                break;
            }
            if (palette.every((taken) => distance(taken, colour) > apart * apart)) {
                palette.push(colour);
            }
        }
        if (palette.length <= COLOURS) {
            return palette;
        }
    }
}

function nearest(palette, colour) {
    let best = 0;
    for (let place = 1; place < palette.length; place += 1) {
        if (distance(palette[place], colour) < distance(palette[best], colour)) {
            best = place;
        }
    }
    return best;
}

function distance(a, b) {
    const red = (a >> 16) - (b >> 16);
    const green = ((a >> 8) & 255) - ((b >> 8) & 255);
    const blue = (a & 255) - (b & 255);
    return red * red + green * green + blue * blue;
}

function channelsOf(colour) {
    return [colour >> 16, (colour >> 8) & 255, colour & 255];
}

function chunk(type, body) {
    const typed = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const ends = [Buffer.alloc(4), Buffer.alloc(4)];
    ends[0].writeUInt32BE(body.length);
    ends[1].writeUInt32BE(zlib.crc32(typed));
    return Buffer.concat([ends[0], typed, ends[1]]);
}
