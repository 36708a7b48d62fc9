//! Whole tables, whatever their columns are: listed from the database's own catalogue, read row by
//! row and filled. Backups and copies are made of this.

use crate::tx::Conn;
use crate::{Arg, Column, StoreError, Tx, Value};

/// A table as the database's catalogue describes it.
#[derive(Clone, Debug)]
pub struct TableShape {
    pub name: String,
    /// In the order of their names, which is the same on both databases.
    pub columns: Vec<TableColumn>,
    /// The columns of the primary key; rows are read in its order.
    key: Vec<String>,
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct TableColumn {
    pub name: String,
    is_boolean: bool,
}

/// One value of a row that is moved from one database to another. Booleans are 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl Arg for Cell {
    fn value(&self) -> Value<'_> {
        match self {
            Cell::Null => Value::Null,
            Cell::Int(number) => Value::Int(*number),
            Cell::Real(number) => Value::Real(*number),
            Cell::Text(text) => Value::Text(text),
            Cell::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

impl From<Column<'_>> for Cell {
    fn from(column: Column<'_>) -> Cell {
        match column {
            Column::Null => Cell::Null,
            Column::Int(number) => Cell::Int(number),
            Column::Bool(truth) => Cell::Int(i64::from(truth)),
            Column::Real(number) => Cell::Real(number),
            Column::Text(text) => Cell::Text(text.to_owned()),
            Column::Bytes(bytes) => Cell::Bytes(bytes.to_owned()),
        }
    }
}

impl TableShape {
    /// True when the table has a column of this name.
    pub fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|own| own.name == column)
    }

    fn names(&self) -> String {
        let quoted = self.columns.iter().map(|column| quote(&column.name));
        quoted.collect::<Vec<_>>().join(", ")
    }
}

impl Tx<'_> {
    /// Every table, in the order of names, without the inner tables of a full-text index.
    pub fn tables(&mut self) -> Result<Vec<TableShape>, StoreError> {
        let names: Vec<(String,)> = self.all(
            self.pick(
                "SELECT name FROM pragma_table_list
                 WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
                 ORDER BY name",
                "SELECT CAST(c.relname AS TEXT) COLLATE \"C\" FROM pg_class c
                 WHERE c.relkind = 'r' AND c.relnamespace = CAST(current_schema() AS REGNAMESPACE)
                 ORDER BY 1",
            ),
            &[],
        )?;
        names.into_iter().map(|(name,)| self.table(name)).collect()
    }

    fn table(&mut self, name: String) -> Result<TableShape, StoreError> {
        let rows: Vec<(String, String, i64)> = self.all(
            self.pick(
                "SELECT name, type, pk FROM pragma_table_info(?1)",
                "SELECT CAST(a.attname AS TEXT), format_type(a.atttypid, NULL),
                        CAST(coalesce(array_position(
                            CAST(CAST(i.indkey AS INT2[]) AS INT2[]), a.attnum
                        ) + 1, 0) AS BIGINT)
                 FROM pg_attribute a
                 LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
                 WHERE a.attrelid = CAST(CAST(?1 AS TEXT) AS REGCLASS)
                   AND a.attnum > 0 AND NOT a.attisdropped",
            ),
            &[&name],
        )?;
        let mut key: Vec<(i64, String)> = rows
            .iter()
            .filter(|(_, _, place)| *place > 0)
            .map(|(column, _, place)| (*place, column.clone()))
            .collect();
        key.sort();
        let mut columns: Vec<TableColumn> = rows
            .into_iter()
            .map(|(name, kind, _)| TableColumn { name, is_boolean: kind == "boolean" })
            .collect();
        columns.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(TableShape { name, columns, key: key.into_iter().map(|(_, name)| name).collect() })
    }

    /// Shows every row of a table in the order of its primary key, with its values in the order of
    /// the table's columns.
    pub fn each_row(
        &mut self,
        table: &TableShape,
        see: impl FnMut(&[Column<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.each_row_where(table, "", &[], see)
    }

    /// The same for the rows of a condition, which begins with `WHERE`.
    pub fn each_row_where(
        &mut self,
        table: &TableShape,
        condition: &str,
        args: &[&dyn Arg],
        mut see: impl FnMut(&[Column<'_>]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let key: Vec<String> = table.key.iter().map(|name| quote(name)).collect();
        let sql = format!(
            "SELECT {} FROM {} {condition} ORDER BY {}",
            table.names(),
            quote(&table.name),
            key.join(", ")
        );
        let width = table.columns.len();
        self.each(&sql, args, |row| {
            let cells: Result<Vec<Column<'_>>, StoreError> =
                (0..width).map(|_| row.take_column()).collect();
            see(&cells?)
        })
    }

    /// Removes every row of a table.
    pub fn clear_table(&mut self, table: &TableShape) -> Result<(), StoreError> {
        self.exec(&format!("DELETE FROM {}", quote(&table.name)), &[])?;
        Ok(())
    }

    /// Removes up to `most` of the rows for which a condition holds; returns how many it removed.
    pub fn remove_some(
        &mut self,
        table: &TableShape,
        condition: &str,
        args: &[&dyn Arg],
        most: i64,
    ) -> Result<u64, StoreError> {
        let name = quote(&table.name);
        let key: Vec<String> = table.key.iter().map(|column| quote(column)).collect();
        let key = key.join(", ");
        let sql = self.pick(
            format!(
                "DELETE FROM {name} WHERE ({key}) IN (
                     SELECT {key} FROM {name} WHERE {condition} LIMIT {most}
                 )"
            ),
            format!(
                "DELETE FROM {name} WHERE ctid = ANY (ARRAY(
                     SELECT ctid FROM {name} WHERE {condition} LIMIT {most}
                 ))"
            ),
        );
        self.exec(&sql, args)
    }

    /// Adds rows, with their values in the order of the table's columns.
    pub fn fill(&mut self, table: &TableShape, rows: &[Vec<Cell>]) -> Result<(), StoreError> {
        if self.pick(true, false) {
            let places: Vec<String> =
                (1..=table.columns.len()).map(|place| format!("?{place}")).collect();
            let (table, names) = (quote(&table.name), table.names());
            let sql = format!("INSERT INTO {table} ({names}) VALUES ({})", places.join(", "));
            for row in rows {
                let values: Vec<&dyn Arg> = row.iter().map(|cell| cell as &dyn Arg).collect();
                self.exec(&sql, &values)?;
            }
            return Ok(());
        }
        let mut text = Vec::new();
        rows.iter().for_each(|row| copy_line(&mut text, table, row));
        let sql = format!("COPY {} ({}) FROM STDIN", quote(&table.name), table.names());
        let Conn::Postgres(session) = &mut self.conn else { return Ok(()) };
        let copied = session.copy_in(&sql, text).map_err(StoreError::from);
        self.note_failure(copied)
    }
}

fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// One row in PostgreSQL's text format of COPY.
fn copy_line(line: &mut Vec<u8>, table: &TableShape, row: &[Cell]) {
    for (place, (cell, column)) in row.iter().zip(&table.columns).enumerate() {
        if place > 0 {
            line.push(b'\t');
        }
        match cell {
            Cell::Null => line.extend_from_slice(b"\\N"),
            Cell::Int(number) if column.is_boolean => {
                line.push(if *number == 0 { b'f' } else { b't' });
            }
            Cell::Int(number) => line.extend_from_slice(number.to_string().as_bytes()),
            Cell::Real(number) => line.extend_from_slice(number.to_string().as_bytes()),
            Cell::Text(text) => text.bytes().for_each(|byte| match byte {
                b'\\' => line.extend_from_slice(b"\\\\"),
                b'\t' => line.extend_from_slice(b"\\t"),
                b'\n' => line.extend_from_slice(b"\\n"),
                b'\r' => line.extend_from_slice(b"\\r"),
                byte => line.push(byte),
            }),
            Cell::Bytes(bytes) => {
                line.extend_from_slice(b"\\\\x");
                for byte in bytes {
                    line.extend_from_slice(&[
                        HEX[usize::from(byte >> 4)],
                        HEX[usize::from(byte & 15)],
                    ]);
                }
            }
        }
    }
    line.push(b'\n');
}

const HEX: &[u8; 16] = b"0123456789abcdef";
