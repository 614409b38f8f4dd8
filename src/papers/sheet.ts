import type { Pen } from './pen.ts';

export const INK = '#171b22';
export const SOFT = '#5a6473';
export const LINE = '#d5dae1';

// A4 in points, with margins of 20 mm
const [PAGE_WIDTH, PAGE_HEIGHT] = [595.28, 841.89];
export const LEFT = 56;
export const TOP = 56;
export const WIDTH = PAGE_WIDTH - 2 * LEFT;
/** Where the content of a page ends; its foot is below. */
export const BOTTOM = PAGE_HEIGHT - 72;

/** Text that is drawn in reading order, letter by letter. */
const PLAIN = /^[\x20-\x7e]*$/;

type Element = PDFKit.PDFStructureElement;

/** The pages of a document, filled from the top. */
export interface Sheet {
  readonly pen: Pen;
  /** The position of the next element on the page. */
  y: number;
  /** Continues at the top of a new page. */
  turn(): void;
  /**
   * Draws an element of the structure for screen readers. `text` is its content, independent of the shapes and order of
   * its letters on the page. `into` is the enclosing element.
   */
  tag(type: string, text: string, draw: () => void, into?: Element): void;
  /** Begins an element that contains others. The caller ends it. */
  open(type: string, into?: Element): Element;
  /** Ends the structure. */
  end(): void;
}

/** The first page of a document. */
export function sheetOf(pen: Pen): Sheet {
  const { document } = pen;
  const root = document.struct('Document');
  document.addStructure(root);
  return {
    pen,
    y: TOP,
    turn() {
      document.addPage();
      this.y = TOP;
    },
    tag(type, text, draw, into = root) {
      const content = document.markStructureContent(type);
      draw();
      document.endMarkedContent();
      into.add(document.struct(type, PLAIN.test(text) ? {} : { actual: text }, content));
    },
    open(type, into = root) {
      const element = document.struct(type);
      into.add(element);
      return element;
    },
    end: () => root.end(),
  };
}
