//! A table of aligned columns.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use anstyle::Style;

use crate::say::{HEAD, PLAIN};

/// A text with its style.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    style: Style,
}

impl Cell {
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    fn width(&self) -> usize {
        self.text.chars().count()
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::new(text, PLAIN)
    }
}

/// On which side a column's texts stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Right,
}

/// Rows under their heads.
#[derive(Debug)]
pub(crate) struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    pub(crate) fn new<const N: usize>(heads: [(&str, Side); N]) -> Self {
        let row = heads.iter().map(|(head, _)| Cell::new(*head, HEAD)).collect();
        Self { sides: heads.iter().map(|(_, side)| *side).collect(), rows: vec![row] }
    }

    pub(crate) fn row<const N: usize>(&mut self, cells: [Cell; N]) {
        self.rows.push(cells.into());
    }

    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let widths: Vec<usize> = (0..self.sides.len())
            .map(|column| self.rows.iter().map(|row| row[column].width()).max().unwrap_or(0))
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            // Blanks are put before a cell, so that no line ends in one.
            let mut blanks = 0;
            for ((cell, width), side) in row.iter().zip(&widths).zip(&self.sides) {
                let spare = width - cell.width();
                let before = blanks + if *side == Side::Right { spare } else { 0 };
                blanks = GAP + if *side == Side::Right { 0 } else { spare };
                if cell.text.is_empty() {
                    blanks += before;
                    continue;
                }
                let Cell { text, style } = cell;
                write!(line, "{:before$}{style}{text}{style:#}", "").map_err(io::Error::other)?;
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// The blanks between two columns.
const GAP: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_no_line_ends_in_a_blank() {
        let mut table = Table::new([("a", Side::Left), ("count", Side::Right), ("b", Side::Left)]);
        table.row(["long".into(), "1".into(), "x".into()]);
        table.row(["s".into(), "".into(), "".into()]);
        table.row(["s".into(), "".into(), "y".into()]);
        let mut out = anstream::StripStream::new(Vec::new());
        table.write(&mut out).unwrap();
        let text = String::from_utf8(out.into_inner()).unwrap();
        assert_eq!(text, "a     count  b\nlong      1  x\ns\ns            y\n");
    }
}
